#include "psn/services/observed_sites.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "psn/base/numerics.h"
#include "psn/core/missing.h"
#include "psn/evidence/places.h"

namespace psn::services {
namespace {

constexpr double kMostSurprise = 700;  // of what is impossible

const std::string& list_of(const Address& address) {
  const Variable& variable = *address.variable;
  if (!variable.list.empty()) return variable.list;
  return variable.name.empty() ? address.text : variable.name;
}

// Smallest value that so much of the weight is at or below.
evidence::Spread weighted_spread(const std::vector<double>& values,
                                 const std::vector<double>& weights) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto at = [&](double p) {
    double sum = 0;
    for (const std::size_t i : order) {
      sum += weights[i];
      if (sum >= p * total) return values[i];
    }
    return values[order.back()];
  };
  return {at(0.05), at(0.5), at(0.95)};
}

}  // namespace

std::vector<ObservedSite> sites_of(const Entry& entry) {
  constexpr std::size_t kMostComponents = 100;
  const ObservedSite whole{entry.address->text, list_of(*entry.address)};
  const std::size_t size = entry.value.size();
  if (size == 1) return {whole};
  if (size > kMostComponents || !has_independent_components(entry.distribution->family())) {
    ObservedSite vector = whole;
    vector.vector = true;
    return {vector};
  }
  std::vector<ObservedSite> sites(size, whole);
  for (std::size_t k = 0; k < size; ++k) sites[k].component = k;
  return sites;
}

void SitePredictions::add(std::uint64_t draw, const Trace& trace, double log_weight) {
  const std::size_t number = log_weights_.size();
  log_weights_.push_back(log_weight);
  Rng rng(seed_, draw, number_);
  for (const Entry& entry : trace.entries) {
    if (!entry.given || !entry.distribution) continue;
    const auto source = observations_.source(*entry.address, entry.value.size());
    const Value measured = source ? source->taken() : entry.value;
    const Value predicted = entry.distribution->draw(rng);
    for (const ObservedSite& site : sites_of(entry)) {
      const std::size_t k = site.component.value_or(0);
      if (site.vector ? gaps(measured) == Gaps::kAll : std::isnan(measured[k])) continue;
      AtSite& at = sites_[site];
      at.draw.push_back(number);
      if (site.vector) {
        const double log_p = log_prob_of_present(*entry.distribution, measured);
        at.log_densities.push_back(log_p);
        at.predicted.push_back(entry.distribution->log_prob(predicted) - log_p);
        continue;
      }
      at.value = measured[k];
      at.predicted.push_back(predicted[k]);
      at.log_densities.push_back(site.component
                                     ? component_of(*entry.distribution, k).log_prob(at.value)
                                     : entry.distribution->log_prob(at.value));
    }
  }
}

std::vector<double> SitePredictions::weights() const {
  const double largest = *std::max_element(log_weights_.begin(), log_weights_.end());
  std::vector<double> result(log_weights_.size());
  if (largest == -kInfinity) return result;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::exp(log_weights_[i] - largest);
  return result;
}

double SitePredictions::effective_sample_size() const {
  double sum = 0, squares = 0;
  for (const double w : weights()) {
    sum += w;
    squares += w * w;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

std::map<ObservedSite, SitePredictions::Figures> SitePredictions::figures() const {
  const std::vector<double> all = weights();
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  std::map<ObservedSite, Figures> result;
  Rng rng(seed_, number_, 0x706974);
  for (const auto& [site, at] : sites_) {
    Figures& figures = result[site];
    std::vector<double> own;
    double density = 0;
    for (std::size_t i = 0; i < at.draw.size(); ++i) {
      own.push_back(all[at.draw[i]]);
      density += own.back() * std::exp(at.log_densities[i]);
    }
    figures.pit = evidence::weighted_place(site.vector ? 0 : at.value, at.predicted, own, rng);
    figures.surprise =
        density > 0 ? std::min(kMostSurprise, -std::log(density / total)) : kMostSurprise;
    if (site.vector) {
      figures.pit = 1 - figures.pit;  // 0: less dense than all that is predicted
      continue;
    }
    figures.value = at.value;
    if (total > 0) figures.predicted = weighted_spread(at.predicted, own);
  }
  return result;
}

}  // namespace psn::services
