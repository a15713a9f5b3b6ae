// Part: what a trace store, or a part of one that was merged, was made of.
#pragma once

#include <cstdint>
#include <string>

namespace psn::data {

// Traces 0 to `traces` - 1 of the streams that a seed gives a model.
struct Part {
  std::string model;
  std::uint64_t seed = 0;
  std::uint64_t traces = 0;  // of a store that was merged; 0: all of its traces

  friend bool operator==(const Part&, const Part&) = default;
};

}  // namespace psn::data
