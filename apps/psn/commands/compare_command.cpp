// psn compare: how well a surrogate stands in for its simulator.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/models.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/watch.h"
#include "apps/psn/output_directory.h"
#include "apps/psn/pilot.h"
#include "psn/base/error.h"
#include "psn/infer/importance.h"
#include "psn/nn/network_file.h"
#include "psn/nn/surrogate.h"
#include "psn/report/agreement.h"
#include "psn/train/comparison.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

struct CompareOptions {
  CommonOptions common;
  SimulationOptions simulation;
  std::string surrogate;
  std::uint64_t min_count = 1000;
  std::string bin, by;
  std::size_t bins = 10;
  std::vector<double> range;
};

// What is kept of the traces of one side.
struct Sample {
  TransitionGraph transitions;
  PathCounts paths;
  std::vector<std::pair<double, double>> pairs;  // --by, --bin where both occur

  void add(const Trace& trace, const CompareOptions& options) {
    transitions.add(trace);
    paths.add(trace);
    if (options.bin.empty()) return;
    const Value *by = trace.find(options.by), *bin = trace.find(options.bin);
    if (by && bin) pairs.emplace_back(by->scalar(), bin->scalar());
  }
};

// The traces of `purpose`, in order, in slices, so that few are in memory at a time. Seeds of their
// own: none of them was trained on.
template <class Use>
Sample run_slices(Simulator& simulator, const CompareOptions& options, std::uint32_t purpose,
                  Monitor& monitor, Use use) {
  constexpr std::uint64_t kSlice = 8192;
  const SimulationOptions& s = options.simulation;
  Rng seeds(options.common.seed, purpose, 0x636d70);
  Sample sample;
  for (std::uint64_t first = 0; first < s.count; first += kSlice) {
    std::vector<Trace> traces(std::min(kSlice, s.count - first));
    std::vector<char> failed(traces.size());
    run_traces(
        simulator, traces.size(), prior_guide(),
        [&](std::uint64_t i, Trace& trace) { std::swap(traces[i], trace); },
        {.seed = seeds.bits(),
         .max_length = s.max_length,
         .keep_distributions = true,
         .monitor = &monitor,
         .failed = [&](std::uint64_t i) { failed[i] = 1; }},
        s.parallelism);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      if (!failed[i]) std::swap(traces[kept++], traces[i]);
    }
    traces.resize(kept);
    for (const Trace& trace : traces) sample.add(trace, options);
    use(std::span<const Trace>(traces));
  }
  return sample;
}

struct Samples {
  Sample simulator, again, surrogate;  // `again`: the simulator with another seed
};

Json transition_json(const TransitionDeviation& t) {
  return {{"from", t.from},
          {"to", t.to},
          {"departures", t.departures},
          {"probability", t.probability},
          {"frequency", t.frequency},
          {"deviation", t.difference()},
          {"standard_error", t.standard_error()}};
}

double largest(const std::vector<TransitionDeviation>& deviations) {
  return deviations.empty() ? 0 : std::abs(deviations.front().difference());
}

// The largest difference in how often a transition is taken, per trace. Less noisy than that of
// probabilities, which for rare addresses rest on few traces.
double largest_of_frequencies(const std::vector<TransitionDeviation>& deviations) {
  double result = 0;
  for (const TransitionDeviation& t : deviations) {
    result = std::max(result, std::abs(t.frequency[1] - t.frequency[0]));
  }
  return result;
}

Json addresses_json(const ConditionalDeviation& conditional) {
  Json list = Json::array();
  for (const AddressDeviation& a : conditional.addresses) {
    list.push_back({{"address", a.address},
                    {"visits", a.visits},
                    {"value_kl", a.value},
                    {"transition_kl", a.transition},
                    {"closed_form", a.closed_form}});
  }
  return list;
}

Json binned_json(const Samples& samples, const CompareOptions& options) {
  double low = kInfinity, high = -kInfinity;
  for (const auto& [by, bin] : samples.simulator.pairs) {
    low = std::min(low, by);
    high = std::max(high, by);
  }
  if (samples.simulator.pairs.empty()) {
    throw InvalidArgument(
        fmt::format("--bin '{}' --by '{}': no trace has both", options.bin, options.by));
  }
  if (!options.range.empty()) low = options.range[0], high = options.range[1];
  const auto real = binned_means(samples.simulator.pairs, low, high, options.bins);
  const auto learned = binned_means(samples.surrogate.pairs, low, high, options.bins);
  const auto side = [](const Bin& bin) {
    return Json{{"count", bin.count},
                {"by_mean", bin.by_mean},
                {"mean", bin.mean},
                {"standard_error", bin.standard_error}};
  };
  Json rows = Json::array();
  for (std::size_t i = 0; i < real.size(); ++i) {
    rows.push_back({{"low", real[i].low},
                    {"high", real[i].high},
                    {"simulator", side(real[i])},
                    {"surrogate", side(learned[i])},
                    {"difference", learned[i].mean - real[i].mean}});
  }
  return {{"variable", options.bin}, {"by", options.by}, {"bins", rows}};
}

Json compare(const ConditionalDeviation& conditional, const Samples& samples,
             const CompareOptions& options) {
  const auto transitions = transition_deviations(samples.simulator.transitions,
                                                 samples.surrogate.transitions, options.min_count);
  const auto floor = transition_deviations(samples.simulator.transitions, samples.again.transitions,
                                           options.min_count);
  Json common = Json::array();
  for (const TransitionDeviation& t : transitions) {
    if (std::max(t.probability[0], t.probability[1]) > 0.01) common.push_back(transition_json(t));
  }
  Json json{
      {"model", options.simulation.model},
      {"surrogate", options.surrogate},
      {"seed", options.common.seed},
      {"traces", conditional.traces},
      {"unseen_traces", conditional.unseen},
      {"kl_nats_per_trace", conditional.kl},
      {"kl_standard_error", conditional.standard_error},
      {"kl_of_values", conditional.values},
      {"kl_of_transitions", conditional.transitions},
      {"unknown_mass", conditional.unknown_mass},
      {"max_transition_deviation", largest(transitions)},
      {"max_transition_deviation_floor", largest(floor)},
      {"max_transition_frequency_deviation", largest_of_frequencies(transitions)},
      {"max_transition_frequency_deviation_floor", largest_of_frequencies(floor)},
      {"min_departures", options.min_count},
      {"path_total_variation",
       PathCounts::total_variation(samples.simulator.paths, samples.surrogate.paths)},
      {"path_total_variation_floor",
       PathCounts::total_variation(samples.simulator.paths, samples.again.paths)},
  };
  if (!transitions.empty()) json["worst_transition"] = transition_json(transitions.front());
  json["transitions_above_1_percent"] = common;
  json["addresses"] = addresses_json(conditional);
  if (!options.bin.empty()) json["conditional_means"] = binned_json(samples, options);
  return json;
}

double number(const Json& x) {
  return x.is_number() ? x.get<double>() : kNaN;
}

// The first rows of a table; --json has all of them.
template <class Row>
void print_rows(const Json& list, Row row) {
  constexpr std::size_t kShown = 15;
  for (std::size_t i = 0; i < std::min(kShown, list.size()); ++i) row(list[i]);
  if (list.size() > kShown) fmt::print("  ... and {} more (--json)\n", list.size() - kShown);
}

void print_transition(const Json& t) {
  fmt::print("  {:+10.4f} {:8.4f} {:10.4f} {:10.4f}  {} -> {}\n", t["deviation"].get<double>(),
             t["standard_error"].get<double>(), t["probability"][0].get<double>(),
             t["probability"][1].get<double>(), t["from"].get<std::string>(),
             t["to"].get<std::string>());
}

void print_bins(const Json& means) {
  const std::string by = means["by"].get<std::string>();
  fmt::print("\nmean of {} by {}\n  {:>21} {:^29} {:^29} {:>10}\n",
             means["variable"].get<std::string>(), by, "", "simulator", "surrogate", "");
  fmt::print("  {:>21} {:>10} {:>10} {:>7} {:>10} {:>10} {:>7} {:>10}\n", "from, to", by, "mean",
             "traces", by, "mean", "traces", "deviation");
  for (const Json& bin : means["bins"]) {
    fmt::print("  {:10.4g} {:10.4g}", bin["low"].get<double>(), bin["high"].get<double>());
    for (const char* side : {"simulator", "surrogate"}) {
      fmt::print(" {:10.4f} {:10.4f} {:7}", number(bin[side]["by_mean"]), number(bin[side]["mean"]),
                 bin[side]["count"].get<std::uint64_t>());
    }
    fmt::print(" {:+10.4f}\n", number(bin["difference"]));
  }
}

void print_text(const Json& json) {
  const auto get = [&](const char* key) { return number(json[key]); };
  fmt::print("{} in place of {}, {} traces of each\n", json["surrogate"].get<std::string>(),
             json["model"].get<std::string>(), json["traces"].get<std::uint64_t>());
  fmt::print("KL from the simulator, nats per trace  {:.5f} +- {:.5f}\n", get("kl_nats_per_trace"),
             get("kl_standard_error"));
  fmt::print("the same by address (below)            {:.5f}: values {:.5f}, transitions {:.5f}\n",
             get("kl_of_values") + get("kl_of_transitions"), get("kl_of_values"),
             get("kl_of_transitions"));
  fmt::print("traces on which `unknown` is drawn     {:.5f}\n", get("unknown_mass"));
  fmt::print("traces with something it lacks         {}\n",
             json["unseen_traces"].get<std::uint64_t>());
  fmt::print("total variation of address paths       {:.5f}; simulator and simulator: {:.5f}\n",
             get("path_total_variation"), get("path_total_variation_floor"));
  fmt::print("largest deviation of a transition      {:.5f}; simulator and simulator: {:.5f}\n",
             get("max_transition_deviation"), get("max_transition_deviation_floor"));
  fmt::print("the same of frequencies per trace      {:.5f}; simulator and simulator: {:.5f}\n",
             get("max_transition_frequency_deviation"),
             get("max_transition_frequency_deviation_floor"));
  fmt::print("\ntransitions above 1 %, from addresses left at least {} times\n",
             json["min_departures"].get<std::uint64_t>());
  fmt::print("  {:>10} {:>8} {:>10} {:>10}\n", "deviation", "s.e.", "simulator", "surrogate");
  print_rows(json["transitions_above_1_percent"], print_transition);
  fmt::print("\nKL by address, nats per trace (~: mean log ratio, no closed form)\n");
  fmt::print("  {:>11} {:>11} {:>9}\n", "value", "transition", "visits");
  print_rows(json["addresses"], [](const Json& a) {
    fmt::print(" {}{:11.6f} {:11.6f} {:9}  {}\n", a["closed_form"].get<bool>() ? ' ' : '~',
               number(a["value_kl"]), number(a["transition_kl"]), a["visits"].get<std::uint64_t>(),
               a["address"].get<std::string>());
  });
  if (json.contains("conditional_means")) print_bins(json["conditional_means"]);
}

void check(const CompareOptions& options) {
  const SimulationOptions& s = options.simulation;
  if (!options.surrogate.ends_with(".psn")) {
    throw InvalidArgument(fmt::format(
        "'{}' is no surrogate: the second argument is a file such as s.psn", options.surrogate));
  }
  if (s.model.ends_with(".psn")) {
    throw InvalidArgument(
        fmt::format("'{}' is a surrogate: the first argument is the model that "
                    "it was learned from",
                    s.model));
  }
  if (s.count < options.min_count) {
    throw InvalidArgument(fmt::format("-n {}: too few traces to compare; at least --min-count {}",
                                      s.count, options.min_count));
  }
  if (options.bin.empty() != options.by.empty()) {
    throw InvalidArgument("--bin and --by belong together");
  }
  const auto& range = options.range;
  if (!range.empty() && (range.size() != 2 || !(range[0] < range[1]))) {
    throw InvalidArgument("--range: two numbers, the lower one first, such as 0,1");
  }
}

void compare_command(const CompareOptions& options, const CLI::App& command) {
  check(options);
  const SimulationOptions& s = options.simulation;
  const auto simulator = load_simulator(s, s.model);
  SurrogateSimulator surrogate(options.surrogate, load_network(options.surrogate).network);
  OutputDirectory out(s.out);
  Watch watch({.label = s.model,
               .total = 3 * s.count,
               .time_limit = s.time_limit,
               .progress = !options.common.quiet});
  std::vector<std::string> names;
  if (!options.bin.empty()) names = {options.bin, options.by};
  const Pilot pilot(*simulator, s.parallelism,
                    {.max_length = s.max_length, .monitor = &watch.monitor()}, names);
  for (const Query& query : pilot.queries(names, "--bin, --by")) {
    if (element_count(query.shape) == 1) continue;
    throw InvalidArgument(fmt::format("--bin, --by '{}': not a number but an array", query.name));
  }

  ConditionalComparison comparison(surrogate.network());
  Samples samples;
  samples.simulator = run_slices(*simulator, options, 0, watch.monitor(),
                                 [&](std::span<const Trace> traces) { comparison.add(traces); });
  const ConditionalDeviation conditional = comparison.result();
  const auto nothing = [](std::span<const Trace>) {};
  samples.again = run_slices(*simulator, options, 1, watch.monitor(), nothing);
  samples.surrogate = run_slices(surrogate, options, 2, watch.monitor(), nothing);

  Json json = compare(conditional, samples, options);
  report_failures(*simulator, json, options.common.quiet);
  if (out) {
    out.write_config(command);
    out.write("comparison.json", json.dump(2) + "\n");
    out.publish();
  }
  options.common.json ? fmt::print("{}\n", json.dump(2)) : print_text(json);
}

}  // namespace

void add_compare_command(CLI::App& program) {
  auto* command = program.add_subcommand("compare", "how well a surrogate stands in for its model");
  auto options = std::make_shared<CompareOptions>();
  auto& o = *options;
  o.simulation.count = 50'000;
  o.simulation.add_to(*command, "traces of each");
  command->add_option("surrogate,--surrogate", o.surrogate, "its file, such as s.psn")->required();
  command
      ->add_option("--min-count", o.min_count,
                   "transitions are compared from addresses left so many times in both")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  command->add_option("--bin", o.bin, "also compare the mean of this variable ...");
  command->add_option("--by", o.by, "... in bins of this one");
  command->add_option("--bins", o.bins, "how many")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  command->add_option("--range", o.range, "of the bins, LOW,HIGH; all of --by's by default")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(finite_between(-1e300, 1e300));
  o.common.add_to(*command);
  command->callback([options, command] { compare_command(*options, *command); });
}

}  // namespace psn::app
