#include "apps/psn/output/criticism_output.h"

#include <fmt/format.h>

#include "apps/psn/output/evidence_output.h"

namespace psn::app {
using services::CriticisedObservation;
using services::CriticisedSite;
using services::CriticismJob;
using services::CriticismResult;

void print_criticism(const CriticismResult& result, const CriticismJob& job) {
  constexpr std::size_t kShown = 12;
  fmt::print("{} values of {}, among {} data sets of the model, {} draws of each posterior\n",
             result.sites.size(), job.simulation.model, result.replicates, job.simulation.count);
  fmt::print(
      "\nby site, the worst first; surprise in nats; p: share of the model's data as bad; !: "
      "blamed\n");
  fmt::print("  {:>10} {:>22} {:>9} {:>7} {:>7}\n", "value", "90 % of predictions", "surprise",
             "usual", "p");
  for (std::size_t i = 0; i < std::min(kShown, result.sites.size()); ++i) {
    const CriticisedSite& site = result.sites[i];
    const std::string range =
        site.predicted ? fmt::format("{:.4g} to {:.4g}", site.predicted->q05, site.predicted->q95)
                       : "";
    fmt::print("  {:>10} {:>22} {:9.3g} {:7.3g} {:7.4f} {} {}{}\n",
               site.value ? fmt::format("{:.5g}", *site.value) : "a vector", range, site.surprise,
               site.usual.q50, site.p_value, site.blamed ? '!' : ' ', site.address,
               site.component ? fmt::format("[{}]", *site.component) : "");
  }
  if (result.sites.size() > kShown) {
    fmt::print("  ... and {} more (--json)\n", result.sites.size() - kShown);
  }
  for (const CriticisedObservation& one : result.observations) {
    if (one.sites < 2) continue;
    fmt::print("all {} of {}: surprise {:.3g} on average, {:.3g} is usual; p {:.4f}{}\n", one.sites,
               one.name, one.surprise, one.usual.q50, one.p_value, one.blamed ? " !" : "");
  }
  print_verdict(result.verdict);
}

}  // namespace psn::app
