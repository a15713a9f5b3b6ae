#include "psn/services/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/core/posterior.h"
#include "psn/evidence/places.h"
#include "psn/infer/diagnostics.h"
#include "psn/services/datasets.h"
#include "psn/services/inference_network.h"
#include "psn/services/model_survey.h"
#include "psn/services/run_report.h"

namespace psn::services {
namespace {

using evidence::Test;

// A number of a latent.
struct Component {
  std::string column;
  std::size_t index;
  std::string label;  // "mu", "x[3]"
};

std::vector<Component> components_of(const std::vector<Query>& queries) {
  std::vector<Component> components;
  for (const Query& query : queries) {
    for (std::size_t k = 0; k < element_count(query.shape); ++k) {
      components.push_back(
          {query.name, k, query.shape.empty() ? query.name : fmt::format("{}[{}]", query.name, k)});
    }
  }
  return components;
}

// What is kept of a data set's posterior, as a row of numbers: figures of the weights, then of each
// component. NaN: not there.
constexpr std::size_t kEss = 0, kKhat = 1, kTarp = 2, kFirst = 3;
constexpr std::size_t kPlace = 0, kMean = 1, kVariance = 2, kEach = 3;

class OneCalibration {
 public:
  OneCalibration(const CalibrationJob& job, Host& host)
      : job_(job),
        host_(host),
        rows_("calibration", job.out, job.config, job.resume),
        model_(open_simulator(job.simulation, host)),
        surrogate_(job.surrogate.empty()
                       ? nullptr
                       : open_simulator(job.surrogate, job.simulation, job.simulation.count, host)),
        work_(host, {.label = job.simulation.model,
                     .total = job.datasets * job.simulation.count,
                     .rescue = [this] { return rows_.save(); }}),
        bands_(job.tolerance) {}

  CalibrationResult run() {
    prepare();
    const SimulationOptions& s = job_.simulation;
    const Parallelism used = effective(s.parallelism, target(), datasets_.size() * s.count);
    const RepeatedInference inference{
        .simulator = target(),
        .network = load_inference_network(job_.network, target(), s.max_length).network,
        .weighted = job_.engine == Engine::kCompiled,
        .draws = s.count,
        .seed = s.seed,
        .max_length = s.max_length,
        .width = used.width,
        .monitor = &host_.monitor()};
    host_.work_goes_on_from(rows_.there() * s.count);
    fill_rows(rows_, datasets_.size(), std::min(used.threads, datasets_.size()),
              [&](std::size_t i) { return infer_one(inference, i); });
    judge();
    if (job_.save) job_.save(result_);
    rows_.finish();
    return std::move(result_);
  }

 private:
  Simulator& target() { return surrogate_ ? *surrogate_ : *model_; }

  void prepare() {
    const SimulationOptions& s = job_.simulation;
    const ModelSurvey survey(*model_, s.parallelism, s.run_options(host_), job_.queries);
    queries_ = job_.queries.empty() ? survey.default_queries() : survey.queries(job_.queries);
    if (queries_.empty()) {
      throw InvalidArgument("no latent is in every trace: name those to judge by `queries`");
    }
    components_ = components_of(queries_);
    datasets_ = draw_datasets(*model_, job_.datasets, s, host_);
    truths_ = std::make_unique<Posterior>(queries_, datasets_.size());
    for (std::size_t i = 0; i < datasets_.size(); ++i) truths_->put(i, datasets_[i].truth, 0);
    for (const Component& c : components_) {
      const double sd = std::sqrt(truths_->variance(c.column, c.index));
      prior_sd_.push_back(sd > 0 ? sd : 1);
    }
    rows_.expect(datasets_.size(), kFirst + kEach * components_.size());
  }

  double truth(std::size_t dataset, std::size_t component) const {
    const Component& c = components_[component];
    return truths_->value(c.column, dataset, c.index);
  }

  std::vector<double> infer_one(const RepeatedInference& inference, std::size_t dataset) const {
    Posterior posterior(queries_, inference.draws);
    inference.run(dataset, datasets_[dataset].observations,
                  [&](std::uint64_t i, const Trace& trace, double log_weight) {
                    posterior.put(i, trace, log_weight);
                  });
    const auto& logs = posterior.log_weights();
    const bool any = *std::max_element(logs.begin(), logs.end()) > -kInfinity;
    const std::vector<double> weights =
        any ? posterior.weights() : std::vector<double>(logs.size());
    std::vector<double> row(kFirst + kEach * components_.size(), kNaN);
    row[kEss] = any ? posterior.effective_sample_size() : 0;
    row[kKhat] = any ? pareto_khat(logs).khat : kInfinity;
    Rng rng(job_.simulation.seed, dataset, 0x72616e6b);
    row[kTarp] = distance_place(posterior, weights, dataset, rng);
    for (std::size_t c = 0; c < components_.size(); ++c) {
      const double x = truth(dataset, c);
      if (std::isnan(x)) continue;
      const auto draws = column(posterior, components_[c]);
      double* own = &row[kFirst + kEach * c];
      own[kPlace] = evidence::weighted_place(x, draws, weights, rng);
      if (!any) continue;
      own[kMean] = posterior.mean(components_[c].column, components_[c].index);
      own[kVariance] = posterior.variance(components_[c].column, components_[c].index);
    }
    return row;
  }

  static std::vector<double> column(const Posterior& posterior, const Component& component) {
    const Column& all = posterior.column(component.column);
    std::vector<double> values(posterior.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = all.data[i * all.width() + component.index];
    }
    return values;
  }

  // Where the truth's distance from a random point lies among those of the draws (TARP). The point
  // is the truth of another data set, which knows nothing of this one. NaN if anything is missing.
  double distance_place(const Posterior& posterior, const std::vector<double>& weights,
                        std::size_t dataset, Rng& rng) const {
    const std::size_t other = (dataset + 1) % datasets_.size();
    double own = 0;
    std::vector<double> distances(posterior.size());
    for (std::size_t c = 0; c < components_.size(); ++c) {
      const double point = truth(other, c), scale = prior_sd_[c];
      const auto squared = [&](double x) { return (x - point) / scale * ((x - point) / scale); };
      own += squared(truth(dataset, c));
      const auto draws = column(posterior, components_[c]);
      for (std::size_t i = 0; i < draws.size(); ++i) distances[i] += squared(draws[i]);
    }
    return std::isnan(own) ? kNaN : evidence::weighted_place(own, distances, weights, rng);
  }

  void judge() {
    result_.datasets = datasets_.size();
    for (std::size_t c = 0; c < components_.size(); ++c) judge_latent(c);
    judge_tarp();
    if (job_.engine == Engine::kCompiled) judge_weights();
    result_.verdict = evidence::verdict_of(std::move(tests_));
    add_bands();
  }

  void judge_latent(std::size_t c) {
    CalibratedLatent& latent = result_.latents.emplace_back();
    latent.name = components_[c].label;
    std::vector<double> places, centrality;
    for (std::size_t i = 0; i < datasets_.size(); ++i) {
      const double* own = &rows_[i][kFirst + kEach * c];
      if (std::isnan(own[kPlace])) continue;
      places.push_back(own[kPlace]);
      centrality.push_back(std::abs(2 * own[kPlace] - 1));
      latent.z_score.push_back((own[kMean] - truth(i, c)) / std::sqrt(own[kVariance]));
      latent.contraction.push_back(1 - own[kVariance] / (prior_sd_[c] * prior_sd_[c]));
    }
    latent.ranks = bands_.test(places);
    latent.coverage = bands_.test(centrality);
    add_test("ranks", latent.name, latent.ranks,
             "the true value of {} lies below the posterior's {:.0f} % quantile in {:.0f} % of {} "
             "data sets");
    add_test(
        "coverage", latent.name, latent.coverage,
        "the true value of {} lies in the central {:.0f} % region of the posterior in {:.0f} % "
        "of {} data sets");
  }

  void judge_tarp() {
    std::vector<double> places;
    for (std::size_t i = 0; i < datasets_.size(); ++i) {
      if (!std::isnan(rows_[i][kTarp])) places.push_back(rows_[i][kTarp]);
    }
    if (places.size() < datasets_.size()) return;
    result_.tarp = bands_.test(places);
    add_test(
        "tarp", "", *result_.tarp,
        "{}all latents together lie in regions of {:.0f} % around random points in {:.0f} % of "
        "{} data sets");
  }

  // By the place where the curve is farthest off.
  void add_test(const char* test, const std::string& what, const evidence::Curve& curve,
                const char* reason) {
    if (curve.z.empty()) return;
    const auto far = std::max_element(curve.difference.begin(), curve.difference.end(),
                                      [](double a, double b) { return std::abs(a) < std::abs(b); });
    const double z = curve.z[static_cast<std::size_t>(far - curve.difference.begin())];
    const std::string name = what.empty() ? "" : fmt::format("'{}'", what);
    tests_.push_back(
        {test, what, curve.p_value,
         fmt::format(fmt::runtime(reason), name, 100 * z, 100 * (z + *far), curve.count)});
  }

  void judge_weights() {
    const auto draws = static_cast<double>(job_.simulation.count);
    result_.least_ess = std::min(100.0, draws / 10);
    // As psn infer warns: a heavy tail that weighs nothing is no fault.
    result_.khat_threshold = std::min(1 - 1 / std::log10(draws), 0.7);
    double unreliable = 0;
    for (std::size_t i = 0; i < datasets_.size(); ++i) {
      const double ess = rows_[i][kEss], khat = rows_[i][kKhat];
      result_.ess.push_back(ess);
      result_.khat.push_back(khat);
      const bool heavy = khat > result_.khat_threshold && ess < draws / 4;
      unreliable += ess < result_.least_ess || heavy ? 1 : 0;
    }
    const auto all = static_cast<double>(datasets_.size());
    result_.unreliable = unreliable / all;
    tests_.push_back(
        {"weights", "", evidence::binomial_tail(all, kMostUnreliable, unreliable),
         fmt::format("on {:.0f} % of the data sets the weights cannot be relied on "
                     "(ESS below {:.0f}, or k-hat above {:.2f})",
                     100 * result_.unreliable, result_.least_ess, result_.khat_threshold)});
  }

  void add_bands() {
    const auto& verdict = result_.verdict;
    const double each = verdict.false_alarm_rate / static_cast<double>(verdict.tests.size());
    const auto complete = [&](const char* test, const std::string& what, evidence::Curve& curve) {
      bands_.add_band(curve, each);
      for (const Test& one : verdict.tests) {
        if (one.test == test && one.what == what) curve.adjusted_p_value = one.adjusted_p_value;
      }
    };
    for (CalibratedLatent& latent : result_.latents) {
      complete("ranks", latent.name, latent.ranks);
      complete("coverage", latent.name, latent.coverage);
    }
    if (result_.tarp) complete("tarp", "", *result_.tarp);
    const auto worst = [](const CalibratedLatent& latent) {
      return std::min(latent.ranks.p_value, latent.coverage.p_value);
    };
    std::stable_sort(result_.latents.begin(), result_.latents.end(),
                     [&](const auto& a, const auto& b) { return worst(a) < worst(b); });
    result_.failures = all_failures(target(), host_);
  }

  const CalibrationJob& job_;
  Host& host_;
  UnfinishedRows rows_;
  const std::unique_ptr<Simulator> model_, surrogate_;
  const WorkScope work_;
  evidence::UniformTests bands_;
  std::vector<Query> queries_;
  std::vector<Component> components_;
  std::vector<Dataset> datasets_;
  std::unique_ptr<Posterior> truths_;
  std::vector<double> prior_sd_;  // by component
  std::vector<Test> tests_;
  CalibrationResult result_;
};

}  // namespace

void CalibrationJob::check() const {
  if (engine != Engine::kCompiled && engine != Engine::kNetwork) {
    throw InvalidArgument("`engine` must be ic or network: what is judged is a network");
  }
  if (network.empty()) {
    throw InvalidArgument("what is to be judged is missing: `network` FILE.psn");
  }
  if (datasets < evidence::kLeastUniform) {
    throw InvalidArgument(
        fmt::format("`datasets` {}: too few; at least {}", datasets, evidence::kLeastUniform));
  }
  if (!(tolerance >= 0 && tolerance < 0.5)) throw InvalidArgument("`tolerance`: from 0 to .5");
}

CalibrationResult calibrate(const CalibrationJob& job, Host& host) {
  job.check();
  return OneCalibration(job, host).run();
}

}  // namespace psn::services
