#include "apps/psn/output/validation_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/psn/output/evidence_output.h"
#include "apps/psn/output/report_output.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;
using services::ValidatedAddress;
using services::ValidatedTransition;
using services::ValidationJob;
using services::ValidationResult;

Json validated_addresses(const ValidationResult& result) {
  constexpr std::size_t kWithCurves = 60;
  Json list = Json::array();
  for (const ValidatedAddress& a : result.addresses) {
    const bool drawn = list.size() < kWithCurves;
    list.push_back({{"address", a.address},
                    {"visits", a.visits},
                    {"value_kl", a.value},
                    {"transition_kl", a.transition},
                    {"closed_form", a.closed_form},
                    {"pit", drawn ? curve_json(a.places) : Json(nullptr)},
                    {"density", drawn ? curve_json(a.densities) : Json(nullptr)}});
  }
  return list;
}

Json validated_transitions(const ValidationResult& result) {
  constexpr std::size_t kMost = 200;
  Json list = Json::array();
  for (const ValidatedTransition& t : result.transitions) {
    if (list.size() == kMost) break;
    const auto departures = static_cast<double>(t.departures);
    list.push_back({{"from", t.from},
                    {"to", t.to},
                    {"departures", t.departures},
                    {"simulator", t.taken / departures},
                    {"surrogate", t.expected / departures},
                    {"p_value", t.p_value},
                    {"adjusted_p_value", t.adjusted_p_value},
                    {"failed", t.failed}});
  }
  return list;
}

Json speed_json(const ValidationResult& result) {
  const auto known = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
  Json json{{"simulator", known(result.simulator_speed)},
            {"surrogate", known(result.surrogate_speed)},
            {"ratio", nullptr}};
  if (result.simulator_speed && result.surrogate_speed) {
    json["ratio"] = *result.surrogate_speed / *result.simulator_speed;
  }
  return json;
}

// How far a curve is off, at the most.
double farthest(const std::optional<evidence::Curve>& curve) {
  double far = 0;
  if (!curve) return far;
  for (const double d : curve->difference) far = std::max(far, std::abs(d));
  return far;
}

void print_addresses(const ValidationResult& result) {
  constexpr std::size_t kShown = 12;
  fmt::print(
      "\nby address, the worst first: KL in nats per trace; PIT: how far the simulator's\n"
      "values are off the surrogate's distribution, at most; !: too far\n");
  fmt::print("  {:>10} {:>10} {:>8}  {:>6}\n", "value KL", "transition", "visits", "PIT");
  for (std::size_t i = 0; i < std::min(kShown, result.addresses.size()); ++i) {
    const ValidatedAddress& a = result.addresses[i];
    const bool outside = (a.places && a.places->outside) || (a.densities && a.densities->outside);
    const double far = std::max(farthest(a.places), farthest(a.densities));
    fmt::print("  {:10.5f} {:10.5f} {:8} {:>6} {} {}\n", a.value, a.transition, a.visits,
               a.places ? fmt::format("{:.3f}", far) : "", outside ? '!' : ' ', a.address);
  }
  if (result.addresses.size() > kShown) {
    fmt::print("  ... and {} more (--json)\n", result.addresses.size() - kShown);
  }
}

}  // namespace

Json validation_json(const ValidationResult& result, const ValidationJob& job) {
  Json json = verdict_json("validation", job.simulation.model, job.simulation.seed, job.tolerance,
                           result.verdict);
  const ConditionalDeviation& conditional = result.conditional;
  json["surrogate"] = job.surrogate;
  if (!job.data.empty()) json["data"] = job.data;
  json["traces"] = conditional.traces;
  json["kl"] = {{"nats_per_trace", conditional.kl},
                {"standard_error", conditional.standard_error},
                {"most", job.most_kl},
                {"values", conditional.values},
                {"transitions", conditional.transitions}};
  json["unknown_mass"] = conditional.unknown_mass;
  json["most_unknown_mass"] = services::kMostUnknownMass;
  json["unseen_traces"] = conditional.unseen;
  json["path_total_variation"] = result.path_total_variation;
  json["speed"] = speed_json(result);
  json["classifier"] = nullptr;
  if (const auto& classifier = result.classifier) {
    json["classifier"] = {{"accuracy", classifier->accuracy},
                          {"most", classifier->most},
                          {"rows", classifier->rows},
                          {"columns", classifier->columns}};
  }
  json["addresses"] = validated_addresses(result);
  json["transitions"] = validated_transitions(result);
  add_failures(result.failures, json);
  return json;
}

void print_validation(const ValidationResult& result, const ValidationJob& job) {
  const ConditionalDeviation& conditional = result.conditional;
  fmt::print("{} in place of {}, by {} traces\n", job.surrogate,
             job.data.empty() ? job.simulation.model : job.data, conditional.traces);
  fmt::print("KL from it, nats per trace     {:.5f} +- {:.5f}   (up to {} is tolerated)\n",
             conditional.kl, conditional.standard_error, job.most_kl);
  if (const auto& classifier = result.classifier) {
    fmt::print(
        "told apart by a classifier in  {:.1f} %               (by chance 50, fails above "
        "{:.1f})\n",
        100 * classifier->accuracy, 100 * classifier->most);
  }
  fmt::print("traces that meet an `unknown`  {:.3f} %\n", 100 * conditional.unknown_mass);
  if (result.surrogate_speed) {
    fmt::print("traces per second              {:.0f}", *result.surrogate_speed);
    if (result.simulator_speed) {
      fmt::print(", {:.3g} times the simulator's {:.0f}",
                 *result.surrogate_speed / *result.simulator_speed, *result.simulator_speed);
    }
    fmt::print("\n");
  }
  print_addresses(result);
  print_verdict(result.verdict);
}

}  // namespace psn::app
