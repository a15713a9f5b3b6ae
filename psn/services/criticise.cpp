#include "psn/services/criticise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/infer/diagnostics.h"
#include "psn/services/datasets.h"
#include "psn/services/inference_network.h"
#include "psn/services/model_survey.h"
#include "psn/services/observed_sites.h"
#include "psn/services/run_report.h"

namespace psn::services {
namespace {

using evidence::SiteFigures;

constexpr double kFewEffective = 50;

class OneCriticism {
 public:
  OneCriticism(const CriticismJob& job, Host& host)
      : job_(job),
        host_(host),
        rows_("criticism", job.out, job.config, job.resume),
        model_(open_simulator(job.simulation, host)),
        work_(host, {.label = job.simulation.model,
                     .total = (job.replicates + 1) * job.simulation.count,
                     .rescue = [this] { return rows_.save(); }}) {}

  CriticismResult run() {
    const SimulationOptions& s = job_.simulation;
    check_names();
    const Parallelism used = effective(s.parallelism, *model_, job_.replicates * s.count);
    RepeatedInference inference{.simulator = *model_,
                                .network = {},
                                .weighted = job_.engine != Engine::kNetwork,
                                .draws = s.count,
                                .seed = s.seed,
                                .max_length = s.max_length,
                                .width = used.width,
                                .keep_distributions = true,
                                .monitor = &host_.monitor()};
    if (!job_.network.empty()) {
      inference.network = load_inference_network(job_.network, *model_, s.max_length).network;
    }
    const SitePredictions data = predictions(inference, job_.replicates, job_.observations);
    result_.ess = data.effective_sample_size();
    result_.khat = pareto_khat(data.log_weights()).khat;
    if (result_.ess < kFewEffective) {
      result_.warnings.push_back(
          fmt::format("the posterior given these data stands on an ESS of {:.0f}: predictions are "
                      "rough, and what is blamed may not be the cause; a larger `count`, or an "
                      "inference network by `network`",
                      result_.ess));
    }
    const auto figures = data.figures();
    if (figures.empty()) {
      throw InvalidArgument("no run comes across an observation: give the data by `observations`");
    }
    replicates_ = draw_datasets(*model_, job_.replicates, s, host_, like_data(figures));
    number_sites(figures);
    rows_.expect(replicates_.size(), 2 * sites_.size());
    host_.work_goes_on_from(rows_.there() * s.count);
    fill_rows(rows_, replicates_.size(), std::min(used.threads, replicates_.size()),
              [&](std::size_t i) {
                return row_of(predictions(inference, i, replicates_[i].observations).figures());
              });
    judge(figures);
    if (job_.save) job_.save(result_);
    rows_.finish();
    return std::move(result_);
  }

 private:
  using Figures = std::map<ObservedSite, SitePredictions::Figures>;

  void check_names() {
    const SimulationOptions& s = job_.simulation;
    std::vector<std::string> names;
    for (const auto& [name, value] : job_.observations.values()) names.push_back(name);
    const ModelSurvey survey(*model_, s.parallelism, s.run_options(host_), names);
    survey.check(job_.observations);
  }

  SitePredictions predictions(const RepeatedInference& inference, std::size_t number,
                              const Observations& observations) const {
    SitePredictions result(observations, job_.simulation.seed, static_cast<std::uint32_t>(number));
    inference.run(number, observations,
                  [&](std::uint64_t i, const Trace& trace, double log_weight) {
                    result.add(i, trace, log_weight);
                  });
    return result;
  }

  // Data sets have what the data have: the same names, and the same gaps.
  ObservationFilter like_data(const Figures& figures) const {
    std::map<std::string, std::vector<bool>> measured;  // by address
    for (const auto& [site, one] : figures) {
      auto& components = measured[site.address];
      const std::size_t k = site.component.value_or(0);
      components.resize(std::max(components.size(), k + 1));
      components[k] = true;
    }
    return [this, measured = std::move(measured)](const Entry& entry) -> std::optional<Value> {
      const Address& address = *entry.address;
      const auto known = measured.find(address.text);
      if (known == measured.end()) {
        // A place in a list that these data, of another length, do not have.
        const bool named = job_.observations.contains(address.name()) ||
                           job_.observations.contains(address.variable->list);
        const bool counts = named || job_.observations.empty();
        return counts && entry.role == Role::kObserve ? std::optional(entry.value) : std::nullopt;
      }
      if (known->second.size() != entry.value.size() ||
          std::all_of(known->second.begin(), known->second.end(), [](bool x) { return x; })) {
        return entry.value;
      }
      std::vector<double> values(entry.value.begin(), entry.value.end());
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (!known->second[k]) values[k] = kNaN;
      }
      return Value(std::move(values), entry.value.shape());
    };
  }

  // Of the data and of all replicates, so that none of them is told apart by it.
  void number_sites(const Figures& figures) {
    const auto number = [&](const ObservedSite& site) {
      const auto group = group_number_.try_emplace(site.name, group_number_.size()).first->second;
      if (site_number_.try_emplace(site, sites_.size()).second) {
        sites_.push_back(site);
        group_of_.push_back(group);
      }
    };
    for (const auto& [site, one] : figures) number(site);
    for (const Dataset& replicate : replicates_) {
      for (const Entry& entry : replicate.truth.entries) {
        // What a program computes has no distribution to predict by.
        if (!entry.distribution) continue;
        if (!replicate.observations.contains(entry.address->text)) continue;
        for (const ObservedSite& site : sites_of(entry)) number(site);
      }
    }
  }

  std::vector<double> row_of(const Figures& figures) const {
    std::vector<double> row(2 * sites_.size(), kNaN);
    for (const auto& [site, one] : figures) {
      const auto found = site_number_.find(site);
      if (found == site_number_.end()) continue;
      row[2 * found->second] = one.pit;
      row[2 * found->second + 1] = one.surprise;
    }
    return row;
  }

  void judge(const Figures& figures) {
    std::vector<std::vector<SiteFigures>> table;
    const auto add = [&](const std::vector<double>& row) {
      auto& sites = table.emplace_back();
      for (std::size_t s = 0; s < sites_.size(); ++s) sites.push_back({row[2 * s], row[2 * s + 1]});
    };
    for (std::size_t i = 0; i < replicates_.size(); ++i) add(rows_[i]);
    add(row_of(figures));
    const evidence::Criticism found = evidence::criticise(table, group_of_, group_number_.size());
    result_.p_value = found.p_value;
    result_.replicates = replicates_.size();
    const bool failed = found.p_value < evidence::kFalseAlarm;
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      if (found.sites[s].there) add_site(sites_[s], found.sites[s], figures.at(sites_[s]), failed);
    }
    add_observations(found, failed);
    const auto worse = [](const auto& a, const auto& b) { return a.badness > b.badness; };
    std::stable_sort(result_.sites.begin(), result_.sites.end(), worse);
    std::stable_sort(result_.observations.begin(), result_.observations.end(), worse);
    result_.verdict = evidence::verdict_of({{"data", "", found.p_value, reason()}});
    if (failed) explain();
    result_.failures = all_failures(*model_, host_);
  }

  void add_site(const ObservedSite& site, const evidence::SiteCriticism& criticism,
                const SitePredictions::Figures& figures, bool failed) {
    CriticisedSite& one = result_.sites.emplace_back();
    static_cast<evidence::SiteCriticism&>(one) = criticism;
    one.address = site.address;
    one.name = site.name;
    one.component = site.component;
    one.value = figures.value;
    one.pit = figures.pit;
    one.predicted = figures.predicted;
    one.blamed = failed && criticism.q_value <= kFalseDiscoveries;
  }

  void add_observations(const evidence::Criticism& found, bool failed) {
    for (const auto& [name, group] : group_number_) {
      if (!found.groups[group].there) continue;
      CriticisedObservation& one = result_.observations.emplace_back();
      static_cast<evidence::SiteCriticism&>(one) = found.groups[group];
      one.name = name;
      one.sites = static_cast<std::size_t>(
          std::count_if(result_.sites.begin(), result_.sites.end(),
                        [&, &of = name](const CriticisedSite& site) { return site.name == of; }));
      one.blamed = failed && one.q_value <= kFalseDiscoveries;
    }
  }

  static std::string label(const CriticisedSite& site) {
    return site.component ? fmt::format("'{}'[{}]", site.address, *site.component)
                          : fmt::format("'{}'", site.address);
  }

  std::string reason() const {
    return fmt::format(
        "data as unusual as these come from the model in {:.2g} % of cases; the most "
        "surprising are at {}",
        100 * result_.p_value, label(result_.sites.front()));
  }

  // Who is to blame, a sentence each.
  void explain() {
    constexpr std::size_t kTold = 5;
    auto& reasons = result_.verdict.reasons;
    std::size_t blamed = 0;
    for (const CriticisedObservation& one : result_.observations) {
      if (!one.blamed || one.sites < 2) continue;
      reasons.push_back(fmt::format(
          "'{}': its {} values are {} than the model's, on average", one.name, one.sites,
          one.surprise > one.usual.q50 ? "more surprising" : "closer to their prediction"));
    }
    for (const CriticisedSite& one : result_.sites) {
      if (!one.blamed || ++blamed > kTold) continue;
      if (one.value && one.predicted) {
        reasons.push_back(
            fmt::format("{} is {:.4g}, where 90 % of what is predicted lies in [{:.4g}, "
                        "{:.4g}]",
                        label(one), *one.value, one.predicted->q05, one.predicted->q95));
      } else {
        reasons.push_back(fmt::format("{} is surprising by {:.3g} nats, where {:.3g} is usual",
                                      label(one), one.surprise, one.usual.q50));
      }
    }
    if (blamed > kTold) reasons.push_back(fmt::format("... and {} more sites", blamed - kTold));
  }

  const CriticismJob& job_;
  Host& host_;
  UnfinishedRows rows_;
  const std::unique_ptr<Simulator> model_;
  const WorkScope work_;
  std::vector<Dataset> replicates_;
  std::vector<ObservedSite> sites_;
  std::map<ObservedSite, std::size_t> site_number_;
  std::vector<std::size_t> group_of_;
  std::map<std::string, std::size_t> group_number_;
  CriticismResult result_;
};

}  // namespace

void CriticismJob::check() const {
  const bool compiled = engine == Engine::kCompiled || engine == Engine::kNetwork;
  if (!compiled && engine != Engine::kImportance) {
    throw InvalidArgument("`engine` must be is, ic or network");
  }
  if (compiled == network.empty()) {
    throw InvalidArgument(
        network.empty() ? "`engine` ic or network needs an inference network: `network` FILE.psn"
                        : "`network` is for `engine` ic or network");
  }
  if (replicates < kFewestReplicates) {
    throw InvalidArgument(fmt::format("`replicates` {}: too few to tell 1 %; at least {}",
                                      replicates, kFewestReplicates));
  }
}

CriticismResult criticise(const CriticismJob& job, Host& host) {
  job.check();
  return OneCriticism(job, host).run();
}

}  // namespace psn::services
