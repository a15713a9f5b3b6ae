// How close a surrogate came to its simulator, as its file tells from the training. What an engine
// says of its own work (ESS, k-hat, R-hat) is about the surrogate and knows nothing of this.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace psn::app {

// Nats per trace. Averaged over data, the posteriors of surrogate and simulator are no further
// apart than the KL of their traces; a tenth of a nat can shift a mean by nearly half a standard
// deviation.
inline constexpr double kMostKl = 0.1;

struct HeldOutKl {
  double nats = 0, standard_error = 0;
  std::uint64_t traces = 0;

  bool too_large() const { return !(nats <= kMostKl); }
};

// Of the last validation in a network's history; nullopt if there was none.
std::optional<HeldOutKl> held_out_kl(const std::string& history);

// For a model that is a surrogate's file: its held-out KL as `surrogate` of the result.
void add_surrogate_quality(const std::string& model, nlohmann::ordered_json& result);
// One line, if there is such; with those who a result's diagnostics are about.
void print_surrogate_quality(const nlohmann::ordered_json& result);
// On stderr, if that is above kMostKl or not known; `model` is the file.
void warn_of_surrogate(const std::string& model, const nlohmann::ordered_json& result);

}  // namespace psn::app
