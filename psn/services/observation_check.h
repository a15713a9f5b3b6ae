// Observations against what forward runs of a model came across.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "psn/core/distribution.h"
#include "psn/core/observations.h"

namespace psn::services {

// A choice of a forward run, at which an observation may be put.
struct Visit {
  const Address* address = nullptr;
  std::size_t size = 0;  // components
  std::shared_ptr<const Distribution> distribution;
};

// Throws InvalidArgument, naming the addresses, for what cannot be meant: a value that two
// addresses of a run take, or none because they all have others; a list for one address that is a
// vector for another, or that is longer than all that any run takes; a number that no such
// distribution yields, whatever its parameters.
void check_observations(const Observations& observations, std::span<const std::vector<Visit>> runs);

}  // namespace psn::services
