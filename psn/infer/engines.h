// The exact engines: what is common to their options.
#pragma once

#include <cstdint>
#include <vector>

#include "psn/core/posterior.h"
#include "psn/core/run.h"
#include "psn/infer/draws.h"
#include "psn/infer/engine_state.h"

namespace psn {

struct EngineOptions {
  std::uint64_t samples = 1000;
  std::vector<Query> queries;          // what to keep of each trace
  bool keep_traces = false;            // keep whole traces besides
  Draws* draws = nullptr;              // optional: is offered every sample
  const Observations* held = nullptr;  // latents to hold at a value; see RunOptions
  std::uint64_t seed = 0;
  // The index of the first sample, whose random numbers follow from it: for parts of one result
  // that are made in different places.
  std::uint64_t first = 0;
  std::size_t max_length = 1'000'000;
  Parallelism parallelism;
  Monitor* monitor = nullptr;
  // Goes on from there, with the options, model and observations of before; without whole traces.
  const EngineState* resume = nullptr;
  EngineWindow* window = nullptr;  // optional: shows what is there so far

  RunOptions run_options(const Observations* observations) const {
    return {.seed = seed,
            .observations = observations,
            .held = held,
            .max_length = max_length,
            .keep_distributions = keep_traces,
            .monitor = monitor,
            .first = first};
  }
};

}  // namespace psn
