#include "apps/psn/options/fallback.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/psn/models.h"
#include "apps/psn/ranks.h"
#include "psn/base/error.h"
#include "psn/nn/network_file.h"
#include "psn/nn/surrogate.h"

namespace psn::app {
namespace {

// nullptr: not a surrogate that falls back.
SurrogateSimulator* falling_back(Simulator& simulator) {
  auto* surrogate = dynamic_cast<SurrogateSimulator*>(&simulator);
  return surrogate && surrogate->options().simulator ? surrogate : nullptr;
}

}  // namespace

void FallbackOptions::add_to(CLI::App& command) {
  command
      .add_option("--unknown", unknown,
                  "of a surrogate, at addresses it does not know: renormalise (never go there), "
                  "stop (an error), simulator (go on in --simulator)")
      ->capture_default_str()
      ->check(CLI::IsMember({"renormalise", "stop", "simulator"}));
  command.add_option("--simulator", simulator, "the model that a surrogate stands for");
}

std::unique_ptr<Simulator> FallbackOptions::load(const SimulationOptions& s,
                                                 bool needs_simulator) const {
  const std::string& model = s.model;
  const bool falls_back = unknown == "simulator";
  if (falls_back && simulator.empty()) {
    throw InvalidArgument("--unknown simulator needs the model to go on in: --simulator MODEL");
  }
  if (!falls_back && !needs_simulator && !simulator.empty()) {
    throw InvalidArgument(
        "--simulator has no use here: it is for --unknown simulator, and for --correct of psn "
        "infer");
  }
  if (unknown == "renormalise") return load_simulator(s, model);
  if (!model.ends_with(".psn")) {
    throw InvalidArgument(
        fmt::format("--unknown is for surrogates, files such as s.psn; '{}' is none", model));
  }
  SurrogateOptions options{.unknown = SurrogateOptions::Unknown::kStop};
  if (falls_back) {
    options = {SurrogateOptions::Unknown::kSimulator, load_simulator(s, simulator)};
  }
  return std::make_unique<SurrogateSimulator>(model, load_network(model).network, options);
}

void forget_fallbacks(Simulator& simulator) {
  if (auto* surrogate = falling_back(simulator)) {
    surrogate->fallbacks().taken = 0;
    surrogate->fallbacks().refused = 0;
  }
}

void report_fallbacks(Simulator& simulator, nlohmann::ordered_json& result, bool quiet) {
  auto* surrogate = falling_back(simulator);
  if (!surrogate) return;
  double counts[] = {static_cast<double>(surrogate->fallbacks().taken),
                     static_cast<double>(surrogate->fallbacks().refused)};
  ranks().sum(counts);
  const auto taken = static_cast<std::uint64_t>(counts[0]);
  const auto refused = static_cast<std::uint64_t>(counts[1]);
  result["fallbacks"] = taken;
  result["fallbacks_refused"] = refused;
  if (quiet || !ranks().leads()) return;
  fmt::print(
      stderr,
      "psn: {} traces went on in '{}' at an unknown address; {} times it could not have made "
      "the choices so far, and the surrogate went on\n",
      taken, surrogate->options().simulator->name(), refused);
}

}  // namespace psn::app
