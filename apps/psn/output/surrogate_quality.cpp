#include "apps/psn/output/surrogate_quality.h"

#include <fmt/format.h>

#include "psn/base/tensor_file.h"
#include "psn/nn/network_file.h"
#include "psn/ppx/remote.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNats = "kl_nats_per_trace";
constexpr const char* kError = "kl_standard_error";

}  // namespace

// A history may be anything: what is not as the trainer writes it is not known.
std::optional<HeldOutKl> held_out_kl(const std::string& history) try {
  const Json reports = Json::parse(history);
  for (auto report = reports.rbegin(); report != reports.rend(); ++report) {
    if (!report->contains("validation")) continue;
    const Json& held_out = report->at("validation");
    return HeldOutKl{held_out.at(kNats).get<double>(), held_out.at(kError).get<double>(),
                     held_out.at("traces").get<std::uint64_t>()};
  }
  return std::nullopt;
} catch (const Json::exception&) {
  return std::nullopt;
}

void add_surrogate_quality(const std::string& model, Json& result) {
  if (ppx::is_remote(model) || !model.ends_with(".psn")) return;
  const TensorFile file = TensorFile::load(model, kNetworkFileKind, kNetworkFileVersion);
  const auto kl = held_out_kl(file.metadata.at("history"));
  Json& quality = result["surrogate"] = {{kNats, nullptr}, {"kl_threshold", kMostKl}};
  if (!kl) return;
  quality[kNats] = kl->nats;
  quality[kError] = kl->standard_error;
  quality["held_out_traces"] = kl->traces;
}

void print_surrogate_quality(const Json& result) {
  if (!result.contains("surrogate")) return;
  const Json& quality = result["surrogate"];
  if (quality[kNats].is_null()) {
    fmt::print("the surrogate's KL from its simulator is not known");
  } else {
    fmt::print(
        "the surrogate's KL from its simulator {:.4f} +- {:.4f} nats per trace ({} held out)",
        quality[kNats].get<double>(), quality[kError].get<double>(),
        quality["held_out_traces"].get<std::uint64_t>());
  }
  if (result.contains("ess") && !result.contains("correction")) {
    fmt::print("; ESS and {} are about the surrogate", result.contains("khat") ? "k-hat" : "R-hat");
  }
  fmt::print("\n");
}

void warn_of_surrogate(const std::string& model, const Json& result) {
  if (!result.contains("surrogate")) return;
  const Json& quality = result["surrogate"];
  if (quality[kNats].is_null()) {
    fmt::print(stderr,
               "psn: warning: how far '{}' is from its simulator is not known (its training had no "
               "held-out traces): see psn compare\n",
               model);
  } else if (quality[kNats].get<double>() > kMostKl) {
    fmt::print(stderr,
               "psn: warning: '{}' is {:.3g} nats per trace from its simulator (above {}), so its "
               "traces and posteriors may be far off: train it longer, look where it differs (psn "
               "compare), or correct a posterior (psn infer --correct)\n",
               model, quality[kNats].get<double>(), kMostKl);
  }
}

}  // namespace psn::app
