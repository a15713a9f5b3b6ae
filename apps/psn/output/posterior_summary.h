// A posterior in numbers, as commands print and write it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "psn/core/posterior.h"

namespace psn::app {

// Of psn infer --out, for psn predict.
inline constexpr const char* kDrawsFile = "draws.safetensors";

struct InferenceResult {
  Posterior posterior;
  std::uint64_t traces = 0;  // that were run
  double seconds = 0;
  std::optional<double> acceptance;             // of Markov chains
  std::optional<double> effective_sample_size;  // where the weights alone do not tell
};

// Moments and quantiles of every column, by name; and as the rows of a table.
nlohmann::ordered_json summarize_columns(const Posterior& posterior);
void print_columns(const nlohmann::ordered_json& columns);

// Moments, quantiles and diagnostics.
nlohmann::ordered_json summarize(const InferenceResult& result);
void print_table(const nlohmann::ordered_json& summary);
// On stderr, if the diagnostics say so.
void warn_if_unreliable(const nlohmann::ordered_json& summary);

}  // namespace psn::app
