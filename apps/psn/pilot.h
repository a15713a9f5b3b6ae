// Pilot: a few forward runs before the work, to learn what a model calls its variables, and to meet
// a broken model with one simulation under way instead of many.
//
// It makes 100 runs, and goes on to 10,000 while a name that the user gave has not come up; slow
// simulators get fewer, since it stops after ten seconds. What fails then does not count later.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/ensemble.h"
#include "psn/core/observations.h"
#include "psn/core/posterior.h"
#include "psn/core/run.h"

namespace psn::app {

class Pilot {
 public:
  // Of `options` the greatest length, the monitor and what is held count.
  Pilot(Simulator& simulator, const Parallelism& parallelism, const RunOptions& options,
        const std::vector<std::string>& wanted_names = {});

  // Throws InvalidArgument, listing the model's names, for an observation that no site takes.
  void check(const Observations& observations) const;
  // Likewise for --given: only latents can be held.
  void check_held(const Observations& held) const;
  // Throws InvalidArgument for a name that did not come up, of a variable or site; `observed`: of
  // an observation.
  void require(const std::string& name, const std::string& option, bool observed = false) const;
  // For names that the user asked for with an option; throws InvalidArgument likewise. "result" is
  // what the program returns, unless a variable is called so.
  std::vector<Query> queries(const std::vector<std::string>& names,
                             const std::string& option = "--query") const;
  // Every named latent and tag (and observation) that came up in all runs, always of one shape;
  // by address if the model names nothing.
  std::vector<Query> default_queries(bool with_observations = false) const;

 private:
  struct Seen {
    Role role;
    Shape shape;
    std::string list;  // see Variable
    std::optional<std::int64_t> place;
    std::uint64_t traces = 0;
    std::uint64_t last_trace = ~std::uint64_t{0};
    std::uint32_t most = 0;  // occurrences in one trace
    std::size_t order;       // of first appearance
    bool shape_varies = false;
    bool named = true;
  };
  void add(std::uint64_t index, const Trace& trace);
  bool knows(const std::string& name, bool observed = false) const;
  [[noreturn]] void fail(const std::string& name, const std::string& option,
                         bool observed = false) const;
  void check_length(const std::string& name, std::size_t size) const;
  std::vector<std::string> names(bool observed) const;

  std::map<std::string, Seen> seen_;  // by name, or by address if unnamed
  std::optional<Shape> result_;       // of what the program returns; none: nothing
  std::uint64_t traces_ = 0;
};

}  // namespace psn::app
