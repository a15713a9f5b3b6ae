#include "psn/services/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/evidence/classifier.h"
#include "psn/evidence/summaries.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/surrogate.h"
#include "psn/report/agreement.h"
#include "psn/services/compare.h"
#include "psn/services/run_report.h"
#include "psn/services/trace_slices.h"

namespace psn::services {
namespace {

using evidence::Test;

constexpr std::size_t kClassified = 5000;  // traces of each side
constexpr std::size_t kColumns = 16;

// What is kept of either side's traces for two-sample comparisons.
struct SideSummary {
  PathCounts paths;
  evidence::TraceSummaries summaries;
  std::uint64_t traces = 0;
  double seconds = 0;

  void add(std::span<const Trace> more) {
    traces += more.size();
    for (const Trace& trace : more) {
      paths.add(trace);
      if (summaries.size() < kClassified) summaries.add(trace);
    }
  }
  double speed() const { return static_cast<double>(traces) / seconds; }
};

std::shared_ptr<const Network> load_surrogate(const std::string& path) {
  auto network = load_network(path).network;
  if (network->infers()) {
    throw InvalidArgument(
        fmt::format("'{}' is an inference network: psn calibrate judges those", path));
  }
  return network;
}

// One validation, from its job to its result.
class OneValidation {
 public:
  OneValidation(const ValidationJob& job, Host& host)
      : job_(job),
        host_(host),
        surrogate_(job.surrogate, load_surrogate(job.surrogate)),
        bands_(job.tolerance),
        conditional_(surrogate_.network()),
        residuals_(surrogate_.compiled(), job.simulation.seed),
        work_(host, {.label = job.surrogate,
                     .total = (job.data.empty() ? 2 : 1) * job.simulation.count}) {}

  ValidationResult run() {
    look_at_simulator();
    result_.conditional = conditional_.result();
    judge_kl();
    judge_addresses();
    judge_transitions();
    look_at_surrogate();
    finish();
    return std::move(result_);
  }

 private:
  void look_at_simulator() {
    const auto use = [&](std::span<const Trace> traces) {
      simulated_.add(traces);
      conditional_.add(traces);
      residuals_.add(traces);
    };
    if (!job_.data.empty()) {
      read_slices(job_.data, job_.simulation.count, job_.all_traces, host_, use);
      return;
    }
    const auto simulator = open_simulator(job_.simulation, host_);
    simulated_.seconds = run_slices(*simulator, job_.simulation, SliceOf::kSimulator, host_, use);
    result_.simulator_speed = simulated_.speed();
    result_.failures = all_failures(*simulator, host_);
  }

  // Its own runs may fail, if it has learned too little to come to an end.
  void look_at_surrogate() try {
    SimulationOptions options = job_.simulation;
    options.count = simulated_.traces;
    SideSummary learned;
    learned.seconds = run_slices(surrogate_, options, SliceOf::kSurrogate, host_,
                                 [&](std::span<const Trace> traces) { learned.add(traces); });
    result_.surrogate_speed = learned.speed();
    result_.path_total_variation = PathCounts::total_variation(simulated_.paths, learned.paths);
    host_.note("telling them apart");
    classify(learned.summaries);
    tests_.push_back({.test = "runs", .reason = ""});
  } catch (const ModelError& error) {
    tests_.push_back({"runs", "", 0, fmt::format("its own runs fail: {}", error.what())});
  }

  void judge_kl() {
    const ConditionalDeviation& found = result_.conditional;
    const double excess = found.kl - job_.most_kl;
    const double p = found.standard_error > 0 ? normal_cdf(-excess / found.standard_error)
                                              : (excess > 0 ? 0.0 : 1.0);
    const std::string& worst = found.addresses.front().address;
    tests_.push_back({"kl", "", p,
                      fmt::format("KL from the simulator is {:.3g} +- {:.1g} nats per trace, above "
                                  "{:.3g}; most of it at '{}'",
                                  found.kl, found.standard_error, job_.most_kl, worst)});
    tests_.push_back({"unknown", "",
                      evidence::hoeffding_tail(static_cast<double>(found.traces), kMostUnknownMass,
                                               found.unknown_mass),
                      fmt::format("it draws something unknown along {:.2g} % of the simulator's "
                                  "traces, above {:.2g} %",
                                  100 * found.unknown_mass, 100 * kMostUnknownMass)});
  }

  // What looks too large, but not by so much of its error that it must be: rare, long traces have
  // most of it. That is no pass.
  void leave_open() {
    const ConditionalDeviation& found = result_.conditional;
    evidence::Verdict& verdict = result_.verdict;
    if (!verdict.passed) return;
    const auto open = [&](const std::string& what) {
      verdict.passed = false;
      verdict.undecided = true;
      result_.warnings.push_back(
          fmt::format("{}, which {} traces cannot tell; a larger `count` can", what, found.traces));
    };
    if (found.kl > job_.most_kl) {
      open(
          fmt::format("KL from the simulator is {:.3g} +- {:.1g} nats per trace: perhaps above "
                      "{:.3g}",
                      found.kl, found.standard_error, job_.most_kl));
    }
    if (found.unknown_mass > kMostUnknownMass) {
      open(
          fmt::format("it draws something unknown along {:.2g} % of these traces: perhaps above "
                      "{:.2g} % of all",
                      100 * found.unknown_mass, 100 * kMostUnknownMass));
    }
  }

  void judge_places(const char* test, const std::string& address, const char* of_what,
                    const std::vector<double>& sample, std::optional<evidence::Curve>& curve) {
    if (bands_.usable(sample.size()) == 0) return;
    curve = bands_.test(sample);
    const auto far = std::max_element(curve->difference.begin(), curve->difference.end(),
                                      [](double a, double b) { return std::abs(a) < std::abs(b); });
    const double z = curve->z[static_cast<std::size_t>(far - curve->difference.begin())];
    tests_.push_back({test, address, curve->p_value,
                      fmt::format("'{}': {:.1f} % of the simulator's {} lie below what the "
                                  "surrogate calls its {:.0f} % quantile",
                                  address, 100 * (z + *far), of_what, 100 * z)});
  }

  void judge_addresses() {
    const auto residuals = residuals_.addresses();
    for (const AddressDeviation& deviation : result_.conditional.addresses) {
      ValidatedAddress& address = result_.addresses.emplace_back();
      static_cast<AddressDeviation&>(address) = deviation;
      const auto found = residuals.find(deviation.address);
      if (found == residuals.end()) continue;
      judge_places("pit", deviation.address, "values", found->second.places, address.places);
      judge_places("density", deviation.address, "densities", found->second.densities,
                   address.densities);
    }
    result_.conditional.addresses.clear();
  }

  // One test for each address that is left, by the worst of its transitions.
  void judge_transitions() {
    std::map<std::string, std::size_t> ways;
    const auto all = residuals_.transitions();
    for (const auto& one : all) ++ways[one.from];
    std::map<std::string, Test> worst;
    for (const auto& one : all) {
      ValidatedTransition& shown = result_.transitions.emplace_back();
      static_cast<evidence::TransitionResidual&>(shown) = one;
      shown.p_value =
          std::min(1.0, one.p_value(job_.tolerance) * static_cast<double>(ways[one.from]));
      Test& test = worst[one.from];
      if (!test.test.empty() && test.p_value <= shown.p_value) continue;
      const auto departures = static_cast<double>(one.departures);
      test = {"transitions", one.from, shown.p_value,
              fmt::format("'{}' -> '{}' is taken in {:.1f} % of {} departures, the surrogate "
                          "expects {:.1f} %",
                          one.from, one.to, 100 * one.taken / departures, one.departures,
                          100 * one.expected / departures)};
    }
    for (auto& [from, test] : worst) tests_.push_back(std::move(test));
  }

  void classify(const evidence::TraceSummaries& learned) {
    const std::size_t rows = std::min(simulated_.summaries.size(), learned.size());
    ClassifierFigures figures{.rows = 2 * rows, .columns = simulated_.summaries.columns(kColumns)};
    if (figures.columns.empty() || rows < evidence::kLeastUniform) return;
    const auto& usual = simulated_.summaries;
    figures.accuracy = evidence::classifier_accuracy(
        usual.rows(figures.columns, rows, usual), learned.rows(figures.columns, rows, usual),
        figures.columns.size(),
        {.epochs = 60, .width = 32, .seed = job_.simulation.seed, .stop = &host_.monitor().stop});
    const auto judged = static_cast<double>(figures.rows);
    tests_.push_back({"classifier", "",
                      evidence::binomial_tail(judged, 0.5 + job_.tolerance,
                                              std::round(figures.accuracy * judged)),
                      fmt::format("a classifier that knows {} numbers of a trace tells it from the "
                                  "simulator's with an accuracy of {:.3f}",
                                  figures.columns.size(), figures.accuracy)});
    result_.classifier = std::move(figures);
  }

  // The least accuracy that would fail.
  void add_classifier_threshold(double false_alarm) {
    if (!result_.classifier) return;
    const auto judged = static_cast<double>(result_.classifier->rows);
    double low = judged / 2, high = judged;
    while (high - low > 1) {
      const double middle = std::floor((low + high) / 2);
      const double p = evidence::binomial_tail(judged, 0.5 + job_.tolerance, middle);
      (p < false_alarm ? high : low) = middle;
    }
    result_.classifier->most = low / judged;
  }

  void finish() {
    result_.verdict = evidence::verdict_of(std::move(tests_));
    leave_open();
    const auto& tests = result_.verdict.tests;
    const double each = result_.verdict.false_alarm_rate / static_cast<double>(tests.size());
    add_classifier_threshold(each);
    std::map<std::pair<std::string, std::string>, const Test*> by_site;
    for (const Test& test : tests) by_site[{test.test, test.what}] = &test;
    const auto complete = [&](const char* test, const std::string& address,
                              std::optional<evidence::Curve>& curve) {
      if (!curve) return;
      bands_.add_band(*curve, each);
      curve->adjusted_p_value = by_site.at({test, address})->adjusted_p_value;
    };
    for (ValidatedAddress& address : result_.addresses) {
      complete("pit", address.address, address.places);
      complete("density", address.address, address.densities);
    }
    const auto fails = [&](const std::optional<evidence::Curve>& curve) {
      return curve && curve->adjusted_p_value < result_.verdict.false_alarm_rate;
    };
    std::stable_partition(
        result_.addresses.begin(), result_.addresses.end(),
        [&](const ValidatedAddress& a) { return fails(a.places) || fails(a.densities); });
    for (ValidatedTransition& one : result_.transitions) {
      const Test& test = *by_site.at({"transitions", one.from});
      const double times = test.p_value > 0 ? test.adjusted_p_value / test.p_value : 1;
      one.adjusted_p_value = std::min(1.0, one.p_value * times);
      one.failed = one.adjusted_p_value < result_.verdict.false_alarm_rate;
    }
    std::stable_sort(result_.transitions.begin(), result_.transitions.end(),
                     [](const auto& a, const auto& b) { return a.p_value < b.p_value; });
  }

  const ValidationJob& job_;
  Host& host_;
  SurrogateSimulator surrogate_;
  evidence::UniformTests bands_;
  ConditionalComparison conditional_;
  evidence::SurrogateResiduals residuals_;
  SideSummary simulated_;
  const WorkScope work_;
  std::vector<Test> tests_;
  ValidationResult result_;
};

}  // namespace

void ValidationJob::check() const {
  check_model_and_surrogate(simulation.model, surrogate);
  if (simulation.model.empty() == data.empty()) {
    throw InvalidArgument(data.empty() ? "what the surrogate was learned from is missing: a model, "
                                         "or a store by `data`"
                                       : "`data` stands for the model: give one of both");
  }
  if (all_traces && data.empty()) throw InvalidArgument("`all_traces` is for `data`");
  if (!(tolerance >= 0 && tolerance < 0.5)) throw InvalidArgument("`tolerance`: from 0 to .5");
  if (!(most_kl >= 0)) throw InvalidArgument("`most_kl`: nats per trace, from 0");
}

ValidationResult validate(const ValidationJob& job, Host& host) {
  job.check();
  return OneValidation(job, host).run();
}

}  // namespace psn::services
