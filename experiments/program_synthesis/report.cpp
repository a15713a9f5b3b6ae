// The results as files: results.json, and the data of each figure.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "experiments/program_synthesis/experiment.h"

namespace psn::program_synthesis {
namespace {

using Json = nlohmann::ordered_json;

std::string histogram_csv(const Results& results, const char* name, std::size_t Size::*what) {
  const auto simulator = results.simulator.histogram(what);
  const auto surrogate = results.surrogate.histogram(what);
  const auto at = [](const auto& counts, std::size_t i) {
    return i < counts.size() ? counts[i] : 0;
  };
  std::string csv = fmt::format("{},simulator,surrogate\n", name);
  for (std::size_t i = 0; i < std::max(simulator.size(), surrogate.size()); ++i) {
    csv += fmt::format("{},{},{}\n", i, at(simulator, i), at(surrogate, i));
  }
  return csv;
}

// A transition between two sites in both: how often, and how probable once its first site is left.
struct TransitionPair {
  std::uint64_t simulator_count = 0, surrogate_count = 0;
  double simulator = 0, surrogate = 0;
};
using TransitionPairs = std::map<std::pair<std::string, std::string>, TransitionPair>;

TransitionPairs pair_transitions(const Results& results) {
  TransitionPairs pairs;
  for (const auto& edge : results.simulator.transitions) {
    TransitionPair& pair = pairs[{edge.from, edge.to}];
    pair.simulator_count = edge.count;
    pair.simulator = edge.probability;
  }
  for (const auto& edge : results.surrogate.transitions) {
    TransitionPair& pair = pairs[{edge.from, edge.to}];
    pair.surrogate_count = edge.count;
    pair.surrogate = edge.probability;
  }
  return pairs;
}

std::string transitions_csv(const TransitionPairs& pairs) {
  std::string csv = "from,to,simulator_count,surrogate_count,simulator,surrogate\n";
  for (const auto& [nodes, pair] : pairs) {
    csv += fmt::format("{},{},{},{},{},{}\n", nodes.first, nodes.second, pair.simulator_count,
                       pair.surrogate_count, pair.simulator, pair.surrogate);
  }
  return csv;
}

// The largest difference of a probability, among transitions that are frequent enough to judge.
double largest_error(const TransitionPairs& pairs) {
  constexpr double kLeast = 1000;
  double largest = 0;
  for (const auto& [nodes, pair] : pairs) {
    if (pair.simulator == 0) continue;
    const double visits = static_cast<double>(pair.simulator_count) / pair.simulator;
    if (visits < kLeast) continue;
    largest = std::max(largest, std::abs(pair.simulator - pair.surrogate));
  }
  return largest;
}

std::string curve_csv(const Results& results) {
  std::string csv =
      "traces,updates,loss,kl_nats_per_trace,learning_rate,addresses,transitions,valid_strict\n";
  for (const auto& [p, valid] : results.trained.curve) {
    csv += fmt::format("{},{},{},{},{},{},{},{}\n", p.traces, p.batches, p.loss, p.kl, p.rate,
                       p.addresses, p.transitions, valid ? fmt::format("{}", *valid) : "");
  }
  return csv;
}

std::string programs_jsonl(const Sample& sample) {
  std::string lines;
  for (const Program& program : sample.programs) {
    const Json json{{"fault", kFaultNames[static_cast<std::size_t>(program.fault)]},
                    {"valid_text", program.valid_text},
                    {"program", program.text}};
    lines += json.dump() + "\n";
  }
  return lines;
}

// Two texts beside each other.
std::string columns(const std::string& left, const std::string& right) {
  std::istringstream a(left), b(right);
  std::string text, x, y;
  for (;;) {
    const bool more_left = static_cast<bool>(std::getline(a, x));
    const bool more_right = static_cast<bool>(std::getline(b, y));
    if (!more_left && !more_right) return text;
    text += fmt::format("{:<58} {}\n", more_left ? x : "", more_right ? y : "");
  }
}

std::string examples(const Results& results) {
  constexpr std::size_t kCount = 12, kLines = 3;
  // Programs of a line or two show nothing.
  const auto worth_showing = [](const Sample& sample) {
    std::vector<const Program*> chosen;
    for (const Program& program : sample.programs) {
      if (program.size.lines >= kLines && chosen.size() < kCount) chosen.push_back(&program);
    }
    return chosen;
  };
  const auto left = worth_showing(results.simulator), right = worth_showing(results.surrogate);
  std::string text = columns("# simulator", "# surrogate");
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    text += columns("\n" + left[i]->text, "\n" + right[i]->text);
  }
  return text;
}

Json results_json(const ExperimentRequest& request, const Results& results,
                  const TransitionPairs& pairs) {
  const auto distance = [&](const Sample& sample, std::size_t Size::*what) {
    return total_variation(results.simulator.histogram(what), sample.histogram(what));
  };
  const Progress& training = results.trained.curve.back().progress;
  const Sample& surrogate = results.surrogate;
  const auto programs = static_cast<double>(surrogate.programs.size());
  Json faults;
  const auto counts = surrogate.faults();
  for (std::size_t i = 1; i < counts.size(); ++i) faults[std::string(kFaultNames[i])] = counts[i];
  return {{"kind", "experiment"},
          {"programs", surrogate.programs.size()},
          {"valid_strict", surrogate.valid_strict()},
          {"valid_text", surrogate.valid_text()},
          {"markov_baseline", results.markov_baseline},
          {"faults", faults},
          {"simulator_valid_strict", results.simulator.valid_strict()},
          {"simulator_valid_text", results.simulator.valid_text()},
          {"kl_nats_per_trace", training.validation->kl},
          {"kl_standard_error", training.validation->standard_error},
          {"tv_length", distance(surrogate, &Size::lines)},
          {"tv_length_floor", distance(results.simulator_again, &Size::lines)},
          {"tv_depth", distance(surrogate, &Size::depth)},
          {"tv_depth_floor", distance(results.simulator_again, &Size::depth)},
          {"largest_transition_error", largest_error(pairs)},
          {"addresses", training.addresses},
          {"transitions", training.transitions},
          {"variables_simulator", results.simulator.variables},
          {"variables_surrogate", surrogate.variables},
          {"traces", training.traces},
          {"updates", training.batches},
          {"training_seconds", training.seconds},
          {"programs_per_second", programs / surrogate.seconds},
          {"preset", request.preset},
          {"quick", request.quick},
          {"seed", request.seed}};
}

std::string summary(const Json& json) {
  const auto number = [&](const char* key) { return json[key].get<double>(); };
  return fmt::format(
      "valid programs     {:.3f} % strict, {:.3f} % by text, of {}\n"
      "without memory     {:.1f} % (Markov baseline)\n"
      "KL                 {:.4f} +- {:.4f} nats per trace\n"
      "total variation    {:.4f} of lengths (two samples of the simulator: {:.4f}),"
      " {:.4f} of depths ({:.4f})\n"
      "vocabulary         {} addresses, {} transitions\n"
      "training           {} traces, {} updates, {:.0f} s\n",
      100 * number("valid_strict"), 100 * number("valid_text"), json["programs"].get<int>(),
      100 * number("markov_baseline"), number("kl_nats_per_trace"), number("kl_standard_error"),
      number("tv_length"), number("tv_length_floor"), number("tv_depth"), number("tv_depth_floor"),
      json["addresses"].get<int>(), json["transitions"].get<int>(), json["traces"].get<int>(),
      json["updates"].get<int>(), number("training_seconds"));
}

}  // namespace

ExperimentReport report(const ExperimentRequest& request, const Results& results) {
  const TransitionPairs pairs = pair_transitions(results);
  const Json json = results_json(request, results, pairs);
  ExperimentReport report;
  report.results = json.dump(2) + "\n";
  report.summary = summary(json);
  report.files = {{"results.json", report.results},
                  {"length.csv", histogram_csv(results, "lines", &Size::lines)},
                  {"depth.csv", histogram_csv(results, "depth", &Size::depth)},
                  {"transitions.csv", transitions_csv(pairs)},
                  {"learning_curve.csv", curve_csv(results)},
                  {"simulator.jsonl", programs_jsonl(results.simulator)},
                  {"surrogate.jsonl", programs_jsonl(results.surrogate)},
                  {"examples.txt", examples(results)}};
  return report;
}

}  // namespace psn::program_synthesis
