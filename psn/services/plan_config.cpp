#include <fmt/format.h>

#include "psn/nn/network_file.h"
#include "psn/services/kept_network.h"

namespace psn::services {
namespace {

std::string toml_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

template <class Value>
std::string line(const char* name, const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return fmt::format("{} = {}\n", name, static_cast<int>(value));
  } else {
    return fmt::format("{} = {}\n", name, value);
  }
}

}  // namespace

// All members are named, so that one more does not compile until it is seen whether it decides.
std::string plan_config(const TrainingPlan& plan) {
  const auto& [traces, seconds, batch_size, memory_mb, network_memory_mb, seed, loss, rate, adam,
               rate_rules, inherit, missing, validation_traces, validate_every, patience,
               progress_every, explosion, simulation, max_length, ranks, monitor, batch_done,
               checkpoint, checkpoint_every, resume] = plan.recipe.training;
  const auto& [learning_rate, schedule, final_rate, plateau_factor, plateau_patience] = rate;
  const auto& [beta1, beta2, epsilon, clip_norm, touched_only] = adam;
  const auto& [begin, wide_inputs] = rate_rules;
  return "data = " + toml_string(plan.data) +
         "\nnetwork = " + toml_string(config_json(plan.recipe.network)) + "\n" +
         line("traces", traces) + line("batch_size", batch_size) + line("memory", memory_mb) +
         line("seed", seed) + line("loss", loss) + line("learning_rate", learning_rate) +
         line("schedule", schedule) + line("final_rate", final_rate) +
         line("plateau_factor", plateau_factor) + line("plateau_patience", plateau_patience) +
         line("beta1", beta1) + line("beta2", beta2) + line("epsilon", epsilon) +
         line("clip_norm", clip_norm) + line("touched_only", touched_only) +
         line("begin_rate", begin) + line("wide_inputs", wide_inputs) + line("inherit", inherit) +
         line("missing", missing) + line("validation", validation_traces) +
         line("validate_every", validate_every) + line("patience", patience) +
         line("progress_every", progress_every) + line("explosion", explosion) +
         line("max_length", max_length);
}

}  // namespace psn::services
