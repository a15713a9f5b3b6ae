#include "psn/evidence/tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "psn/base/numerics.h"

namespace psn::evidence {
namespace {

std::vector<std::size_t> ascending(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<double> adjusted(p_values.size());
  double so_far = 0;
  std::size_t left = p_values.size();
  for (const std::size_t i : ascending(p_values)) {
    so_far = std::max(so_far, std::min(1.0, p_values[i] * static_cast<double>(left--)));
    adjusted[i] = so_far;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
  std::vector<double> adjusted(p_values.size());
  const std::vector<std::size_t> order = ascending(p_values);
  double so_far = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const double share = static_cast<double>(k + 1) / static_cast<double>(order.size());
    so_far = std::min(so_far, p_values[order[k]] / share);
    adjusted[order[k]] = so_far;
  }
  return adjusted;
}

double binomial_tail(double n, double p, double k) {
  if (k <= 0 || p >= 1) return 1;
  double sum = 0;
  for (double r = n; r >= k; --r) {
    sum += std::exp(log_gamma(n + 1) - log_gamma(r + 1) - log_gamma(n - r + 1) + x_log_y(r, p) +
                    x_log_y(n - r, 1 - p));
  }
  return std::min(1.0, sum);
}

double bernstein_tail(double excess, double variance) {
  if (excess <= 0) return 1;
  return std::exp(-excess * excess / (2 * (variance + excess / 3)));
}

double hoeffding_tail(double n, double most, double mean) {
  if (mean <= most) return 1;
  return std::exp(n * (x_log_y(mean, most) - x_log_y(mean, mean) + x_log_y(1 - mean, 1 - most) -
                       x_log_y(1 - mean, 1 - mean)));
}

Verdict verdict_of(std::vector<Test> tests) {
  constexpr std::size_t kTold = 3;
  std::stable_sort(tests.begin(), tests.end(),
                   [](const Test& a, const Test& b) { return a.p_value < b.p_value; });
  std::vector<double> p_values;
  for (const Test& test : tests) p_values.push_back(test.p_value);
  const std::vector<double> adjusted = holm(p_values);
  Verdict verdict;
  std::map<std::string, std::size_t> failed;  // by sort
  for (std::size_t i = 0; i < tests.size(); ++i) {
    tests[i].adjusted_p_value = adjusted[i];
    tests[i].failed = adjusted[i] < verdict.false_alarm_rate;
    if (!tests[i].failed) continue;
    verdict.passed = false;
    if (++failed[tests[i].test] <= kTold) verdict.reasons.push_back(tests[i].reason);
  }
  for (const auto& [sort, count] : failed) {
    if (count <= kTold) continue;
    verdict.reasons.push_back(fmt::format("... and {} more sites by '{}'", count - kTold, sort));
  }
  verdict.tests = std::move(tests);
  return verdict;
}

}  // namespace psn::evidence
