// What a posterior predicts at each number that was observed. Internal header of the services.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "psn/core/observations.h"
#include "psn/core/trace.h"
#include "psn/evidence/criticism.h"

namespace psn::services {

// A number that was observed: an address, or one component of it. Long vectors, and those whose
// components hang together, are one as a whole.
struct ObservedSite {
  std::string address, name;  // the list's name, if it is of one: "obs" for "obs_3"
  std::optional<std::size_t> component;
  bool vector = false;  // as a whole
  auto operator<=>(const ObservedSite&) const = default;
};

// The sites at an entry with its distribution.
std::vector<ObservedSite> sites_of(const Entry& entry);

// Draws of one posterior, each with the prediction it makes at every site: the distribution that
// the program has there, given the draw and the observations before.
class SitePredictions {
 public:
  // `observations`: which components are not measured. Must outlive it.
  SitePredictions(const Observations& observations, std::uint64_t seed, std::uint32_t number)
      : observations_(observations), seed_(seed), number_(number) {}

  void add(std::uint64_t draw, const Trace& trace, double log_weight);

  const std::vector<double>& log_weights() const { return log_weights_; }
  double effective_sample_size() const;
  struct Figures : evidence::SiteFigures {
    std::optional<double> value;
    std::optional<evidence::Spread> predicted;
  };
  // By site, of those that a draw came across.
  std::map<ObservedSite, Figures> figures() const;

 private:
  struct AtSite {
    double value = 0;
    std::vector<std::size_t> draw;                 // in log_weights_
    std::vector<double> predicted, log_densities;  // by these; of a vector: density minus value's
  };
  std::vector<double> weights() const;

  const Observations& observations_;
  std::uint64_t seed_;
  std::uint32_t number_;
  std::vector<double> log_weights_;
  std::map<ObservedSite, AtSite> sites_;
};

}  // namespace psn::services
