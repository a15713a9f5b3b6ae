// Pilot: a few forward runs before the work, to learn what a model calls its variables. Slow
// simulators get few: it stops after ten seconds.
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
  Pilot(Simulator& simulator, const Parallelism& parallelism, std::size_t max_length,
        Monitor* monitor);

  // Throws InvalidArgument, listing the model's names, for an observation that no site takes.
  void check(const Observations& observations) const;
  // For names that the user asked for; throws InvalidArgument for one that did not come up.
  std::vector<Query> queries(const std::vector<std::string>& names) const;
  // Every named latent and tag that came up in all runs.
  std::vector<Query> default_queries() const;

 private:
  struct Seen {
    Role role;
    Shape shape;
    std::string site_name;  // without index
    std::optional<std::int64_t> index;
    std::uint64_t traces = 0;
    std::uint64_t last_trace = ~std::uint64_t{0};
    std::uint32_t most = 0;  // occurrences in one trace
    std::size_t order;       // of first appearance
  };
  void add(std::uint64_t index, const Trace& trace);
  std::vector<std::string> names(bool observed) const;

  std::map<std::string, Seen> seen_;
  std::uint64_t traces_ = 0;
};

}  // namespace psn::app
