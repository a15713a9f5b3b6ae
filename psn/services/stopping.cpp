#include "psn/services/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/base/text.h"
#include "psn/infer/diagnostics.h"
#include "psn/infer/estimates.h"
#include "psn/services/inference_job.h"

namespace psn::services {
namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

bool is_worse(bool wants_more, double a, double b) {
  return wants_more ? a < b : a > b;
}

std::uint64_t runs_of_each(const InferenceJob& job) {
  return job.max_runs.value_or(kUnlimited) / (job.has_chains() ? job.chains : 1);
}

}  // namespace

Precision::Precision(const std::string& text) : text_(text) {
  static const std::regex kForm(
      R"(\s*(ess|mcse|rhat)\s*(?:\(\s*(.*?)\s*\))?\s*(=|[<>]=?)\s*(\S+)\s*)");
  static const std::map<std::string, Kind> kKinds{
      {"ess", Kind::kEss}, {"mcse", Kind::kError}, {"rhat", Kind::kRhat}};
  const auto fail = [&](const std::string& why) {
    throw InvalidArgument(fmt::format("`until` '{}': {}", text, why));
  };
  std::smatch parts;
  if (!std::regex_match(text, parts, kForm)) {
    fail("a condition is ess=1000, ess(NAME) > 400, mcse(NAME) < 0.01 or rhat < 1.01");
  }
  kind_ = kKinds.at(parts[1]);
  of_ = parts[2];
  const std::string sign = parts[3], number = parts[4];
  std::size_t used = 0;
  try {
    bound_ = std::stod(number, &used);
  } catch (const std::exception&) {
  }
  if (used != number.size() || !(bound_ > 0) || !std::isfinite(bound_)) {
    fail(fmt::format("'{}' is no number above 0", number));
  }
  if (sign != "=" && (sign[0] == '>') != (kind_ == Kind::kEss)) {
    fail(kind_ == Kind::kEss ? "to be reached it takes ess > NUMBER"
                             : "to be reached it takes < NUMBER");
  }
  if (kind_ == Kind::kError && of_.empty()) fail("of what? mcse(NAME) < NUMBER");
}

void Precision::check(const std::vector<std::string>& names) const {
  if (of_.empty() || std::find(names.begin(), names.end(), of_) != names.end()) return;
  throw InvalidArgument(
      fmt::format("`until` '{}': '{}' is not among what is reported (`queries`){}", text_, of_,
                  suggestion(of_, names)));
}

double Precision::figure_of(Kind kind, const Posterior& posterior, const std::string& name,
                            std::size_t component) {
  if (kind == Kind::kError) return mean_standard_error(posterior, name, component);
  if (kind == Kind::kEss) return effective_sample_size(posterior, name, component);
  const Column& column = posterior.column(name);
  std::vector<double> values(posterior.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = column.data[i * column.width() + component];
  }
  return split_rhat({values, posterior.chains()});
}

double Precision::figure(const Posterior& posterior, const std::vector<std::string>& names) const {
  double worst = kNaN;
  for (const std::string& name : of_.empty() ? names : std::vector<std::string>{of_}) {
    for (std::size_t k = 0; k < posterior.column(name).width(); ++k) {
      const double figure = figure_of(kind_, posterior, name, k);
      // A constant has none, and needs none; what is asked for by name must be known.
      if (std::isnan(figure) && of_.empty()) continue;
      if (std::isnan(figure)) return kNaN;
      if (std::isnan(worst) || is_worse(kind_ == Kind::kEss, figure, worst)) worst = figure;
    }
    if (posterior.chains() == 0 && kind_ == Kind::kEss) break;  // the same for all
  }
  return worst;
}

bool Precision::holds(double figure) const {
  return kind_ == Kind::kEss ? figure >= bound_ : figure <= bound_;
}

Looks::Looks(const InferenceJob& job, std::vector<std::string> names, std::uint64_t free)
    : job_(job),
      free_(free),
      names_(std::move(names)),
      chains_(job.has_chains() ? job.chains : 1),
      every_(job.has_chains() ? per_chain(job) : job.simulation.count) {
  for (const std::string& text : job.until) until_.emplace_back(text).check(names_);
  figures_.every = every_ * chains_;
}

std::uint64_t Looks::burn_in() const {
  const std::uint64_t tenth = std::min(every_ * job_.thinning, runs_of_each(job_)) / 10;
  if (job_.engine != Engine::kMarginal) return job_.burn_in.value_or(tenth);
  return std::min(job_.burn_in.value_or(tenth), runs_of_each(job_) / 40);
}

std::uint64_t Looks::start_attempts() const {
  const std::uint64_t each = runs_of_each(job_), most = MetropolisOptions().start_attempts;
  if (job_.engine == Engine::kMarginal) return std::min(most, each / 40);
  return std::min(most, each - std::min(each, burn_in() + job_.thinning));
}

// An iteration takes many runs: a quarter of them is for the start, half for the burn-in.
void Looks::limit(MarginalOptions& options) const {
  if (!job_.max_runs) return;
  const std::uint64_t each = runs_of_each(job_);
  options.burn_in_runs = each / 2;
  options.most_runs = std::clamp<std::uint64_t>(each / 4 / job_.thinning, 1, options.most_runs);
}

// Nobody knows how many runs it takes a chain to start: with a limit there is one sample each at
// first.
std::uint64_t Looks::first() const {
  if (!job_.max_runs) return every_ * chains_;
  return job_.has_chains() ? chains_ : std::min(every_, *job_.max_runs + free_);
}

std::uint64_t Looks::most_samples(const EngineState& state) const {
  const std::uint64_t there = state.samples / chains_;
  if (!job_.max_runs) return kUnlimited;
  if (!job_.has_chains()) return *job_.max_runs + free_;
  std::uint64_t left = kUnlimited;
  for (const ChainState& chain : state.chains) {
    const std::uint64_t own = runs_of_each(job_) - std::min(runs_of_each(job_), chain.runs);
    left = std::min(left, own / chain.runs_for_one);
  }
  return there + left / job_.thinning;
}

bool Looks::look(const Posterior& posterior) {
  figures_.conditions.clear();
  bool all = !until_.empty();
  for (const Precision& precision : until_) {
    const double figure = precision.figure(posterior, names_);
    figures_.conditions.push_back({precision.text(), figure, precision.holds(figure)});
    all &= precision.holds(figure);
  }
  return all;
}

std::optional<std::uint64_t> Looks::next(const EngineState& state, const Posterior& posterior) {
  const std::uint64_t there = state.samples / chains_, most = most_samples(state);
  const bool at_a_look = there >= every_ || there >= most;
  if (at_a_look && look(posterior)) {
    figures_.reason = StoppingFigures::Reason::kPrecision;
    return std::nullopt;
  }
  if (there >= most) {
    figures_.reason = StoppingFigures::Reason::kRuns;
    return std::nullopt;
  }
  if (at_a_look && until_.empty()) {
    figures_.reason = StoppingFigures::Reason::kSamples;
    return std::nullopt;
  }
  // Looks take time in proportion to the samples: further and further apart.
  const std::uint64_t further = there < every_ ? every_ : there + std::max(every_, there / 10);
  return std::min(further, most) * chains_;
}

void check_stopping(const InferenceJob& job) {
  for (const std::string& text : job.until) {
    const Precision precision(text);
    if (precision.text().find("rhat") != std::string::npos && !job.has_chains()) {
      throw InvalidArgument("`until` rhat is for Markov chains (`engine` lmh, rmh, da or pm)");
    }
  }
  if (job.correct > 0) {
    throw InvalidArgument(
        "`until` and `max_runs` do not go with `correct`, which is told how many "
        "runs to make");
  }
  if (!job.max_runs || !job.has_chains()) return;
  const Looks looks(job, {});
  if (looks.start_attempts() > 0) return;
  throw InvalidArgument(
      fmt::format("`max_runs` {} is too few for {} `chains` with a `burn_in` of {} each",
                  *job.max_runs, job.chains, looks.burn_in()));
}

std::vector<std::string> stopping_warnings(const StoppingFigures& figures) {
  std::vector<std::string> warnings;
  if (figures.reason != StoppingFigures::Reason::kRuns) return warnings;
  for (const StoppingFigures::Condition& c : figures.conditions) {
    if (c.holds) continue;
    warnings.push_back(fmt::format(
        "the runs (`max_runs`) were spent before '{}' held: it is {:.4g}", c.text, c.figure));
  }
  return warnings;
}

}  // namespace psn::services
