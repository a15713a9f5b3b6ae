// Course: the controlled choices of a program without branches, which all its runs make in one
// order, each from a distribution that never changes. It is all that an inference network needs to
// know of its model to answer alone: CourseSimulator makes these choices and then comes to the
// observations, whose values are whatever was measured.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "psn/core/ensemble.h"
#include "psn/core/observations.h"
#include "psn/nn/network.h"

namespace psn {

struct CourseStep {
  std::string scope, base, name, type;  // see VariableKey
  std::optional<std::int64_t> index;
  std::uint32_t instance = 1;
  Distribution distribution;

  VariableKey key() const { return {scope, base, name, type, index}; }
};

struct Course {
  std::vector<CourseStep> steps;
  std::string problem;  // why there is none, in words; empty: there is one
};

// Of runs of one program, with their distributions; there must be some.
Course course_of(std::span<const Trace> traces);

// Its ensembles are for answers that are not weighed (RunOptions::weighs). Thread-safe.
class CourseSimulator : public Simulator {
 public:
  // The network is the one whose observations there are; a list is as long as what was observed.
  CourseSimulator(std::string name, Course course, std::shared_ptr<const Network> network,
                  const Observations& observations);

  const std::string& name() const override { return name_; }
  AddressTable& addresses() override { return addresses_; }
  std::unique_ptr<Ensemble> ensemble(std::size_t width) override;

 private:
  void observe(const Node& node, std::optional<std::int64_t> index);

  std::string name_;
  Course course_;
  AddressTable addresses_;
  std::deque<Value> medians_;      // of the observations
  std::vector<Request> requests_;  // of every run, in order
};

}  // namespace psn
