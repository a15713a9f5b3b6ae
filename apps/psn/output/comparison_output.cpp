#include "apps/psn/output/comparison_output.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/services/saving/results.h"

namespace psn::app {
namespace {

using services::ComparisonJob;
using services::ComparisonResult;

// The first rows of a table; --json has all of them.
template <class Rows, class Print>
void print_rows(const Rows& rows, Print print) {
  constexpr std::size_t kShown = 15;
  for (std::size_t i = 0; i < std::min(kShown, rows.size()); ++i) print(rows[i]);
  if (rows.size() > kShown) fmt::print("  ... and {} more (--json)\n", rows.size() - kShown);
}

void print_transitions(const ComparisonResult& result, const ComparisonJob& job) {
  std::vector<TransitionDeviation> common;
  std::copy_if(result.transitions.begin(), result.transitions.end(), std::back_inserter(common),
               services::is_common);
  fmt::print("\ntransitions above 1 %, from addresses left at least {} times\n", job.min_count);
  fmt::print("  {:>10} {:>8} {:>10} {:>10}\n", "deviation", "s.e.", "simulator", "surrogate");
  print_rows(common, [](const TransitionDeviation& t) {
    fmt::print("  {:+10.4f} {:8.4f} {:10.4f} {:10.4f}  {} -> {}\n", t.difference(),
               t.standard_error(), t.probability[0], t.probability[1], t.from, t.to);
  });
}

void print_means(const services::BinnedComparison& means, const ComparisonJob& job) {
  fmt::print("\nmean of {} by {}\n  {:>21} {:^29} {:^29} {:>10}\n", job.bin, job.by, "",
             "simulator", "surrogate", "");
  fmt::print("  {:>21} {:>10} {:>10} {:>7} {:>10} {:>10} {:>7} {:>10}\n", "from, to", job.by,
             "mean", "traces", job.by, "mean", "traces", "deviation");
  for (std::size_t i = 0; i < means.simulator.size(); ++i) {
    const Bin &real = means.simulator[i], &learned = means.surrogate[i];
    fmt::print("  {:10.4g} {:10.4g}", real.low, real.high);
    for (const Bin* side : {&real, &learned}) {
      fmt::print(" {:10.4f} {:10.4f} {:7}", side->by_mean, side->mean, side->count);
    }
    fmt::print(" {:+10.4f}\n", learned.mean - real.mean);
  }
}

}  // namespace

void print_comparison(const ComparisonResult& result, const ComparisonJob& job) {
  const ConditionalDeviation& conditional = result.conditional;
  fmt::print("{} in place of {}, {} traces of each\n", job.surrogate, job.simulation.model,
             conditional.traces);
  fmt::print("KL from the simulator, nats per trace  {:.5f} +- {:.5f}\n", conditional.kl,
             conditional.standard_error);
  fmt::print("the same by address (below)            {:.5f}: values {:.5f}, transitions {:.5f}\n",
             conditional.values + conditional.transitions, conditional.values,
             conditional.transitions);
  fmt::print("traces on which `unknown` is drawn     {:.5f}\n", conditional.unknown_mass);
  fmt::print("traces with something it lacks         {}\n", conditional.unseen);
  const auto print = [](const char* what, const services::WithFloor& x) {
    fmt::print("{:38} {:.5f}; simulator and simulator: {:.5f}\n", what, x.value, x.floor);
  };
  print("total variation of address paths", result.path_total_variation);
  print("largest deviation of a transition", result.transition);
  print("the same of frequencies per trace", result.frequency);
  print_transitions(result, job);
  fmt::print("\nKL by address, nats per trace (~: mean log ratio, no closed form)\n");
  fmt::print("  {:>11} {:>11} {:>9}\n", "value", "transition", "visits");
  print_rows(conditional.addresses, [](const AddressDeviation& a) {
    fmt::print(" {}{:11.6f} {:11.6f} {:9}  {}\n", a.closed_form ? ' ' : '~', a.value, a.transition,
               a.visits, a.address);
  });
  if (result.conditional_means) print_means(*result.conditional_means, job);
}

}  // namespace psn::app
