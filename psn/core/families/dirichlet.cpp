#include "psn/core/families/dirichlet.h"

#include <vector>

#include "psn/core/families/gamma.h"

namespace psn::family {
namespace {

constexpr double kSmallest = std::numeric_limits<double>::min();

double sum_of(Numbers x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum;
}

// Of components that may have come out as zero.
double log_component(double x) {
  return std::log(std::max(x, kSmallest));
}

// One draw, off the edges, where the density may be infinite, times `whole`.
void draw_shares(Numbers concentration, double whole, Rng& rng, NumbersOut x) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = draw_log_gamma(concentration[i], rng);
  const double log_total = log_sum_exp(x);
  for (double& v : x) v = std::max(whole * std::exp(v - log_total), kSmallest);
}

double log_normaliser(Numbers concentration) {
  double sum = -log_gamma(sum_of(concentration));
  for (const double a : concentration) sum += log_gamma(a);
  return sum;
}

// What of the concentrations and of a value with gaps belongs to the gaps.
struct Rest {
  double concentration = 0, share = 1;
};

Rest rest_of(Numbers concentration, Numbers x) {
  Rest rest;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      rest.concentration += concentration[i];
    } else {
      rest.share -= x[i];
    }
  }
  return rest;
}

// Of each component but the last, the log odds against those after it: they are the log odds of a
// Beta variable. Mean and standard deviation.
struct LogOdds {
  double location, scale;
};

std::vector<LogOdds> log_odds_of(Numbers concentration) {
  std::vector<LogOdds> result(concentration.size() - 1);
  double after = concentration.back();
  for (std::size_t i = result.size(); i-- > 0;) {
    result[i] = {digamma(concentration[i]) - digamma(after),
                 std::sqrt(trigamma(concentration[i]) + trigamma(after))};
    after += concentration[i];
  }
  return result;
}

// log(1 + exp(x))
double log_one_plus_exp(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace

bool sums_to_one(Numbers x) {
  constexpr double kRounding = 1e-6;
  return std::abs(sum_of(x) - 1) <= kRounding;
}

const char* Dirichlet::problem(const P& p) {
  return std::isfinite(sum_of(p[0])) ? nullptr : "concentration must have a finite sum";
}

void Dirichlet::draw(const P& p, Rng& rng, NumbersOut x) {
  draw_shares(p[0], 1, rng, x);
}

double Dirichlet::log_prob(const P& p, Numbers x) {
  if (!sums_to_one(x)) return -kInfinity;
  double sum = -log_normaliser(p[0]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] >= 0)) return -kInfinity;
    sum += x_log_y(p[0][i] - 1, x[i]);
  }
  return sum;
}

void Dirichlet::mean(const P& p, NumbersOut m) {
  const double total = sum_of(p[0]);
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = p[0][i] / total;
}

void Dirichlet::variance(const P& p, NumbersOut v) {
  const double total = sum_of(p[0]);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double share = p[0][i] / total;
    v[i] = share * (1 - share) / (total + 1);
  }
}

double Dirichlet::kl(const P& p, const P& q) {
  const double total = digamma(sum_of(p[0]));
  double sum = log_normaliser(q[0]) - log_normaliser(p[0]);
  for (std::size_t i = 0; i < p[0].size(); ++i) {
    sum += (p[0][i] - q[0][i]) * (digamma(p[0][i]) - total);
  }
  return sum;
}

void Dirichlet::score(const P& p, Numbers x, const ListsOut<1>& by) {
  const double total = digamma(sum_of(p[0]));
  for (std::size_t i = 0; i < x.size(); ++i) {
    by[0][i] = total - digamma(p[0][i]) + log_component(x[i]);
  }
}

void Dirichlet::expected_score(const P& p, const P& q, const ListsOut<1>& by) {
  const double total = digamma(sum_of(q[0])) - digamma(sum_of(p[0]));
  for (std::size_t i = 0; i < p[0].size(); ++i) {
    by[0][i] = total - digamma(q[0][i]) + digamma(p[0][i]);
  }
}

// What is not there counts as one component, with the concentration of all of them.
double Dirichlet::log_prob_of_present(const P& p, Numbers x) {
  const Rest rest = rest_of(p[0], x);
  std::vector<double> concentration{rest.concentration}, shares{rest.share};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) continue;
    concentration.push_back(p[0][i]);
    shares.push_back(x[i]);
  }
  return shares.size() == 1 ? 0 : log_prob({concentration}, shares);
}

void Dirichlet::fill(const P& p, NumbersOut x, Rng& rng) {
  std::vector<double> concentration;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) concentration.push_back(p[0][i]);
  }
  std::vector<double> shares(concentration.size());
  draw_shares(concentration, rest_of(p[0], x).share, rng, shares);
  auto next = shares.begin();
  for (double& v : x) {
    if (std::isnan(v)) v = *next++;
  }
}

double Dirichlet::free(const P& p, Numbers x, NumbersOut u) {
  const auto odds = log_odds_of(p[0]);
  double after = std::max(x.back(), kSmallest);
  double log_volume = -std::log(after);
  for (std::size_t i = u.size(); i-- > 0;) {
    const double log_x = log_component(x[i]);
    u[i] = (log_x - std::log(after) - odds[i].location) / odds[i].scale;
    log_volume -= log_x + std::log(odds[i].scale);
    after += x[i];
  }
  return log_volume;
}

void Dirichlet::bind(const P& p, Numbers u, NumbersOut x) {
  const auto odds = log_odds_of(p[0]);
  double log_left = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double log_odds = odds[i].location + odds[i].scale * u[i];
    x[i] = std::max(std::exp(log_left - log_one_plus_exp(-log_odds)), kSmallest);
    log_left -= log_one_plus_exp(log_odds);
  }
  x[u.size()] = std::max(std::exp(log_left), kSmallest);
}

}  // namespace psn::family
