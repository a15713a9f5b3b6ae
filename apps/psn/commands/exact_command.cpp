// psn exact: the exact posterior of the built-in model that has one in closed enough form.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "experiments/control_flow/control_flow.h"

namespace psn::app {

void add_exact_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "exact", "the exact posterior of theta in control-flow, by quadrature");
  auto common = std::make_shared<CommonOptions>();
  auto x = std::make_shared<double>(5);
  command->add_option("--x", *x, "the observation")
      ->capture_default_str()
      ->check(finite_between(-50, 300));
  common->add_to(*command);
  command->callback([common, x] {
    const control_flow::ExactPosterior exact(*x);
    const nlohmann::ordered_json column{
        {"mean", exact.mean()},        {"sd", exact.sd()},           {"q05", exact.quantile(0.05)},
        {"q25", exact.quantile(0.25)}, {"q50", exact.quantile(0.5)}, {"q75", exact.quantile(0.75)},
        {"q95", exact.quantile(0.95)}};
    if (common->json) {
      const nlohmann::ordered_json json{{"posterior", {{"theta", column}}},
                                        {"log_evidence", std::log(exact.evidence())}};
      fmt::print("{}\n", json.dump(2));
      return;
    }
    fmt::print("{:>16}", "theta");
    for (const auto& [key, value] : column.items()) fmt::print(" {:>10.5g}", value.get<double>());
    fmt::print("\nlog evidence {:.4f}\n", std::log(exact.evidence()));
  });
}

}  // namespace psn::app
