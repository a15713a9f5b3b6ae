#include "psn/evidence/criticism.h"

#include <algorithm>
#include <cmath>

#include "psn/base/numerics.h"
#include "psn/evidence/tests.h"

namespace psn::evidence {
namespace {

using Table = std::vector<std::vector<double>>;  // data set, site; NaN: not there

// (1 + how many of the others are as large) / (1 + others): the last against those before it.
double rank_of_last(const std::vector<double>& values) {
  double as_large = 1, others = 1;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    ++others;
    as_large += values[i] >= values.back() ? 1 : 0;
  }
  return as_large / others;
}

std::vector<double> column(const Table& table, std::size_t site) {
  std::vector<double> values;
  for (const auto& row : table) values.push_back(row[site]);
  return values;
}

// Of an exponential variable one in twenty is above 3: in these units so is this.
double upper_units(double x, const Spread& usual) {
  const double unit = usual.q95 - usual.q50;
  return unit > 0 ? 3 * (x - usual.q50) / unit : 0;
}

double lower_units(double x, const Spread& usual) {
  const double unit = usual.q50 - usual.q05;
  return unit > 0 ? 3 * (usual.q50 - x) / unit : 0;
}

// Each by its rank among those of its own column, and by Benjamini and Hochberg, by its rank among
// those of all columns.
void judge(const Table& badness, std::vector<SiteCriticism>& sites) {
  std::vector<double> all;
  for (std::size_t i = 0; i + 1 < badness.size(); ++i) {
    for (const double b : badness[i]) {
      if (!std::isnan(b)) all.push_back(b);
    }
  }
  std::sort(all.begin(), all.end());
  std::vector<std::size_t> judged;
  std::vector<double> pooled;
  for (std::size_t s = 0; s < sites.size(); ++s) {
    const double own = badness.back()[s];
    if (std::isnan(own)) continue;
    sites[s].there = true;
    sites[s].badness = own;
    sites[s].p_value = rank_of_last(column(badness, s));
    const auto below = std::lower_bound(all.begin(), all.end(), own) - all.begin();
    const auto as_large = static_cast<double>(all.size() - static_cast<std::size_t>(below));
    pooled.push_back((1 + as_large) / (1 + static_cast<double>(all.size())));
    judged.push_back(s);
  }
  const std::vector<double> q = benjamini_hochberg(pooled);
  for (std::size_t k = 0; k < judged.size(); ++k) sites[judged[k]].q_value = q[k];
}

double largest(const std::vector<double>& values, double so_far) {
  for (const double x : values) {
    if (!std::isnan(x)) so_far = std::max(so_far, x);
  }
  return so_far;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::erase_if(values, [](double x) { return std::isnan(x); });
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double p) {
    return values[static_cast<std::size_t>(
        std::lround(p * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.05), at(0.5), at(0.95)};
}

Criticism criticise(std::span<const std::vector<SiteFigures>> datasets,
                    const std::vector<std::size_t>& group_of, std::size_t groups) {
  const std::size_t sites = group_of.size(), count = datasets.size();
  Criticism result;
  result.sites.resize(sites);
  result.groups.resize(groups);
  Table surprise(count), badness(count), group_badness(count);
  Table means(count, std::vector<double>(groups, kNaN));
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> sums(groups), sizes(groups);
    for (std::size_t s = 0; s < sites; ++s) {
      const SiteFigures& figures = datasets[i][s];
      const bool there = !std::isnan(figures.pit);
      surprise[i].push_back(there ? figures.surprise : kNaN);
      if (!there) continue;
      sums[group_of[s]] += figures.surprise;
      ++sizes[group_of[s]];
    }
    for (std::size_t g = 0; g < groups; ++g) {
      if (sizes[g] > 0) means[i][g] = sums[g] / sizes[g];
    }
  }
  for (std::size_t s = 0; s < sites; ++s) {
    result.sites[s].usual = spread_of(column(surprise, s));
    result.sites[s].surprise = surprise.back()[s];
    for (std::size_t i = 0; i < count; ++i) {
      const double u = datasets[i][s].pit;
      const double by_place = -std::log(2 * std::min(u, 1 - u));
      const double by_surprise = upper_units(surprise[i][s], result.sites[s].usual);
      badness[i].push_back(std::isnan(u) ? kNaN : std::max(by_place, by_surprise));
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    const Spread usual = result.groups[g].usual = spread_of(column(means, g));
    result.groups[g].surprise = means.back()[g];
    for (std::size_t i = 0; i < count; ++i) {
      const double x = means[i][g];
      group_badness[i].push_back(
          std::isnan(x) ? kNaN : std::max(upper_units(x, usual), lower_units(x, usual)));
    }
  }
  judge(badness, result.sites);
  judge(group_badness, result.groups);
  std::vector<double> worst;
  for (std::size_t i = 0; i < count; ++i) {
    worst.push_back(largest(group_badness[i], largest(badness[i], 0)));
  }
  result.p_value = rank_of_last(worst);
  return result;
}

}  // namespace psn::evidence
