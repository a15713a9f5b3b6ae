#include "experiments/program_synthesis/sample.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>

namespace psn::program_synthesis {
namespace {

template <class Predicate>
double fraction(const std::vector<Program>& programs, Predicate predicate) {
  return static_cast<double>(std::count_if(programs.begin(), programs.end(), predicate)) /
         static_cast<double>(programs.size());
}

}  // namespace

double Sample::valid_strict() const {
  return fraction(programs, [](const Program& p) { return p.fault == Fault::kNone; });
}

double Sample::valid_text() const {
  return fraction(programs, [](const Program& p) { return p.valid_text; });
}

std::array<std::uint64_t, kFaultNames.size()> Sample::faults() const {
  std::array<std::uint64_t, kFaultNames.size()> counts{};
  for (const Program& program : programs) ++counts[static_cast<std::size_t>(program.fault)];
  return counts;
}

std::vector<std::uint64_t> Sample::histogram(std::size_t Size::*what) const {
  std::vector<std::uint64_t> counts;
  for (const Program& program : programs) {
    const std::size_t n = program.size.*what;
    if (n >= counts.size()) counts.resize(n + 1);
    ++counts[n];
  }
  return counts;
}

Sample draw_programs(Simulator& simulator, std::uint64_t count, std::uint64_t seed,
                     Monitor* monitor) {
  const auto start = std::chrono::steady_clock::now();
  Sample sample;
  sample.programs.resize(count);
  TransitionGraph graph(TransitionGraph::Nodes::kSites);
  StrictChecker checker;
  std::uint64_t variables = 0;
  std::mutex mutex;
  run_traces(
      simulator, count, [] { return std::make_unique<PriorGuide>(); },
      [&](std::uint64_t index, Trace& trace) {
        const std::lock_guard lock(mutex);
        Program& program = sample.programs[index];
        program.statements = statements(trace);
        program.text = render(trace);
        program.size = size(program.statements);
        program.fault = checker.check(trace);
        program.valid_text = valid_text(program.text);
        variables += trace.length();
        graph.add(trace);
      },
      {.seed = seed, .monitor = monitor}, {.width = 512});
  sample.transitions = graph.edges();
  sample.variables = static_cast<double>(variables) / static_cast<double>(count);
  sample.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return sample;
}

double total_variation(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  const auto total = [](const std::vector<std::uint64_t>& h) {
    return static_cast<double>(std::accumulate(h.begin(), h.end(), std::uint64_t{0}));
  };
  const auto share = [](const std::vector<std::uint64_t>& h, std::size_t i, double sum) {
    return i < h.size() ? static_cast<double>(h[i]) / sum : 0;
  };
  const double total_a = total(a), total_b = total(b);
  double sum = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    sum += std::abs(share(a, i, total_a) - share(b, i, total_b));
  }
  return sum / 2;
}

}  // namespace psn::program_synthesis
