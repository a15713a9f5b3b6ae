#include "psn/infer/diagnostics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "psn/base/numerics.h"

namespace psn {
namespace {

double mean_of(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double variance_of(std::span<const double> x, double mean) {
  double sum = 0;
  for (const double value : x) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.size() - 1);
}

// The mean variance within a chain, and the estimate of the target's variance to which that between
// chains is added.
struct Variances {
  double within, pooled;
};

bool is_constant(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [&](double value) { return value == x[0]; });
}

using Complex = std::complex<double>;

// exp(-2 pi i k / n) for k below n / 2.
std::vector<Complex> roots_of_unity(std::size_t n) {
  std::vector<Complex> roots(n / 2);
  for (std::size_t k = 0; k < roots.size(); ++k) {
    roots[k] = std::polar(1.0, -2 * M_PI * static_cast<double>(k) / static_cast<double>(n));
  }
  return roots;
}

// The product of finite numbers; the library's looks for infinities in each.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// The discrete Fourier transform in place, of as many numbers as there are roots of unity.
void fourier(std::vector<Complex>& x, const std::vector<Complex>& roots) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    const std::size_t stride = n / (2 * half);
    for (std::size_t block = 0; block < n; block += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const Complex odd = times(roots[k * stride], x[block + half + k]);
        x[block + half + k] = x[block + k] - odd;
        x[block + k] += odd;
      }
    }
  }
}

// sum_i (x_i - mean)(x_{i + lag} - mean) / n for lags below a power of two. Blocks of that length
// against themselves and the block after, so that the transforms of long chains stay in the cache.
std::vector<double> autocovariance(std::span<const double> x, std::size_t lags) {
  const std::size_t size = 2 * lags;
  const std::vector<Complex> roots = roots_of_unity(size);
  const double mean = mean_of(x);
  std::vector<Complex> block(size), spectrum(size);
  for (std::size_t start = 0; start < x.size(); start += lags) {
    // Two real series transformed as one: a block, and that block with the next.
    for (std::size_t i = 0; i < size; ++i) {
      const double value = start + i < x.size() ? x[start + i] - mean : 0;
      block[i] = {i < lags ? value : 0, value};
    }
    fourier(block, roots);
    for (std::size_t k = 0; k < size; ++k) {
      const Complex mirrored = std::conj(block[(size - k) % size]);
      const Complex own = block[k] + mirrored, both = times({0, -1}, block[k] - mirrored);
      spectrum[k] +=
          times(own, std::conj(both));  // conjugate, so that the way back is the way there
    }
  }
  fourier(spectrum, roots);
  std::vector<double> result(lags);
  const double scale = 0.25 / static_cast<double>(size) / static_cast<double>(x.size());
  for (std::size_t lag = 0; lag < lags; ++lag) result[lag] = spectrum[lag].real() * scale;
  return result;
}

Variances chain_variances(const std::vector<std::span<const double>>& chains) {
  const auto n = static_cast<double>(chains[0].size());
  std::vector<double> means;
  double within = 0;
  for (const auto& chain : chains) {
    means.push_back(mean_of(chain));
    within += variance_of(chain, means.back());
  }
  within /= static_cast<double>(chains.size());
  const double between = chains.size() > 1 ? variance_of(means, mean_of(means)) : 0;
  return {within, within * (n - 1) / n + between};
}

std::vector<std::span<const double>> split(const Chains& chains, std::size_t parts) {
  const std::size_t length = chains.values.size() / std::max<std::size_t>(1, chains.count);
  const std::size_t part = length / parts;
  std::vector<std::span<const double>> pieces;
  for (std::size_t c = 0; c < chains.count; ++c) {
    for (std::size_t p = 0; p < parts; ++p) {
      pieces.push_back(chains.values.subspan(c * length + p * part, part));
    }
  }
  return pieces;
}

// Sums of adjacent pairs of correlations are positive and decreasing for a reversible chain; what
// follows the first violation is noise (Geyer 1992). nullopt: there is none within so many lags.
std::optional<double> initial_sum(const std::vector<std::span<const double>>& chains,
                                  const Variances& v, std::size_t lags) {
  std::vector<double> covariance(lags);  // mean over chains
  for (const auto& chain : chains) {
    const std::vector<double> own = autocovariance(chain, lags);
    for (std::size_t lag = 0; lag < lags; ++lag) {
      covariance[lag] += own[lag] / static_cast<double>(chains.size());
    }
  }
  const auto correlation = [&](std::size_t lag) {
    return 1 - (covariance[0] - covariance[lag]) / v.pooled;
  };
  const std::size_t n = chains[0].size();
  double sum = 0;
  double previous = kInfinity;
  for (std::size_t lag = 0; lag + 1 < std::min(lags, n); lag += 2) {
    const double pair = (lag == 0 ? 1.0 : correlation(lag)) + correlation(lag + 1);
    if (pair <= 0) return sum;
    previous = std::min(previous, pair);
    sum += previous;
  }
  return lags < n ? std::nullopt : std::optional(sum);
}

// Zhang and Stephens (2009): shape k of a generalised Pareto fitted to sorted positive excesses,
// with the weakly informative prior of the PSIS paper.
double fit_pareto_shape(const std::vector<double>& excess) {
  const std::size_t n = excess.size();
  const auto count = static_cast<double>(n);
  const auto grid = static_cast<std::size_t>(30 + std::sqrt(count));
  const double quartile = excess[static_cast<std::size_t>(std::lround(count / 4)) - 1];
  const double largest = excess.back();
  std::vector<double> theta(grid), log_likelihood(grid);
  const auto shape_at = [&](double t) {
    double sum = 0;
    for (const double x : excess) sum += std::log1p(-t * x);
    return sum / count;  // k for this theta
  };
  for (std::size_t j = 0; j < grid; ++j) {
    theta[j] =
        1 / largest + (1 - std::sqrt(static_cast<double>(grid) / (static_cast<double>(j) + 0.5))) /
                          (3 * quartile);
    const double k = shape_at(theta[j]);
    log_likelihood[j] = count * (std::log(-theta[j] / k) - k - 1);
  }
  const double total = log_sum_exp(log_likelihood);
  double estimate = 0;
  for (std::size_t j = 0; j < grid; ++j) estimate += theta[j] * std::exp(log_likelihood[j] - total);
  constexpr double kPriorCount = 10;
  return (shape_at(estimate) * count + 0.5 * kPriorCount) / (count + kPriorCount);
}

}  // namespace

double chain_effective_sample_size(const Chains& chains) {
  const auto parts = split(chains, 1);
  if (parts.empty() || parts[0].size() < 4) return kNaN;
  const std::size_t n = parts[0].size();
  if (std::all_of(parts.begin(), parts.end(), is_constant)) return kNaN;
  const Variances v = chain_variances(parts);
  std::optional<double> sum;
  for (std::size_t lags = 1024; !sum; lags *= 8) {
    sum = initial_sum(parts, v, std::min(lags, std::bit_ceil(n)));
  }
  const auto total = static_cast<double>(n * parts.size());
  const double time = std::max(2 * *sum - 1, 1 / std::log10(total));
  return total / time;
}

double split_rhat(const Chains& chains) {
  const auto parts = split(chains, 2);
  if (parts.empty() || parts[0].size() < 2) return kNaN;
  if (std::all_of(parts.begin(), parts.end(), is_constant)) {
    // Stuck chains: all in one place, or in different ones.
    const bool same = std::all_of(parts.begin(), parts.end(),
                                  [&](const auto& part) { return part[0] == parts[0][0]; });
    return same ? kNaN : kInfinity;
  }
  const Variances v = chain_variances(parts);
  return std::sqrt(v.pooled / v.within);
}

ParetoDiagnostic pareto_khat(std::span<const double> log_weights) {
  const auto size = static_cast<double>(log_weights.size());
  ParetoDiagnostic result{kNaN, std::min(1 - 1 / std::log10(size), 0.7)};
  const auto tail = static_cast<std::size_t>(std::ceil(std::min(0.2 * size, 3 * std::sqrt(size))));
  if (tail < 5 || log_weights.size() <= tail) return result;

  std::vector<double> sorted(log_weights.begin(), log_weights.end());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<long>(tail), sorted.end(),
                   std::greater<>());
  const double cutoff = sorted[tail];
  std::sort(sorted.begin(), sorted.begin() + static_cast<long>(tail));
  const double largest = sorted[tail - 1];
  if (largest == -kInfinity) return result;
  if (largest == cutoff) {
    result.khat = -kInfinity;
    return result;
  }
  std::vector<double> excess;
  for (std::size_t i = 0; i < tail; ++i) {
    const double x = std::exp(sorted[i] - largest) - std::exp(cutoff - largest);
    if (x > 0) excess.push_back(x);
  }
  // Too few to fit, although the largest stands out: the rest is negligible beside it.
  result.khat = excess.size() >= 5 ? fit_pareto_shape(excess) : kInfinity;
  return result;
}

double effective_sample_size(const Posterior& posterior, std::string_view name,
                             std::size_t component) {
  if (posterior.chains() == 0) return posterior.effective_sample_size();
  std::vector<double> values;
  values.reserve(posterior.size());
  const Column& column = posterior.column(name);
  const std::size_t width = column.width();
  for (std::size_t i = 0; i < posterior.size(); ++i) {
    const double x = column.data[i * width + component];
    if (!std::isnan(x)) values.push_back(x);
  }
  const bool always = values.size() == posterior.size();
  return chain_effective_sample_size({values, always ? posterior.chains() : 1});
}

}  // namespace psn
