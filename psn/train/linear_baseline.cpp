#include "psn/train/linear_baseline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "psn/base/numerics.h"

namespace psn {
namespace {

constexpr std::size_t kTracesAFeature = 20;  // that a regression needs
constexpr std::size_t kMostTraces = 5000;

// One row of numbers a trace.
struct Table {
  std::size_t columns = 0;
  std::vector<double> values;

  const double* row(std::size_t i) const { return values.data() + i * columns; }
};

struct Latent {
  Table coordinates;              // without bounds
  std::vector<double> log_prior;  // density over these
};

// x in a coordinate that goes from -inf to inf, and log |du/dx|.
std::pair<double, double> unbounded(double x, const Support& support) {
  const bool below = std::isfinite(support.low), above = std::isfinite(support.high);
  const double from = std::log(x - support.low), to = std::log(support.high - x);
  if (below && above) return {from - to, std::log(support.high - support.low) - from - to};
  if (below) return {from, -from};
  if (above) return {to, -to};
  return {x, 0};
}

using Entries = std::vector<const Entry*>;  // of an address, one a trace

// Of the addresses that come once in every trace, always in one form; as in the first trace.
std::vector<Entries> in_every(std::span<const Trace> traces) {
  std::map<const Address*, std::size_t> places;
  std::vector<Entries> all;
  for (const Entry& entry : traces.front().entries) {
    if (places.emplace(entry.address, all.size()).second) all.emplace_back();
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    for (const Entry& entry : traces[i].entries) {
      const auto place = places.find(entry.address);
      if (place == places.end()) continue;
      Entries& entries = all[place->second];
      if (entries.size() == i) entries.push_back(&entry);
    }
  }
  std::erase_if(all, [&](const Entries& entries) {
    return entries.size() != traces.size() ||
           std::any_of(entries.begin(), entries.end(), [&](const Entry* entry) {
             return entry->role != entries[0]->role ||
                    entry->value.size() != entries[0]->value.size();
           });
  });
  return all;
}

// Nullopt for what a normal cannot stand for.
std::optional<Latent> latent_of(const Entries& entries) {
  Latent latent{{.columns = entries.front()->value.size()}};
  for (const Entry* entry : entries) {
    const auto& distribution = entry->distribution;
    if (!distribution || distribution->discrete() || distribution->on_simplex()) return {};
    double log_prior = entry->log_prob;
    for (std::size_t c = 0; c < entry->value.size(); ++c) {
      const auto [u, log_slope] = unbounded(entry->value[c], distribution->support(c));
      if (!std::isfinite(u) || !std::isfinite(log_slope)) return {};
      latent.coordinates.values.push_back(u);
      log_prior -= log_slope;
    }
    latent.log_prior.push_back(log_prior);
  }
  return latent;
}

// All observations side by side, each with mean 0 and variance 1, and a column of ones.
Table features_of(const std::vector<Entries>& all, std::size_t traces) {
  std::vector<std::vector<double>> columns{std::vector<double>(traces, 1.0)};
  const auto n = static_cast<double>(traces);
  for (const Entries& entries : all) {
    if (entries[0]->role != Role::kObserve) continue;
    for (std::size_t c = 0; c < entries[0]->value.size(); ++c) {
      std::vector<double> column;
      double mean = 0, square = 0;
      for (const Entry* entry : entries) mean += entry->value[c] / n;
      for (const Entry* entry : entries) column.push_back(entry->value[c] - mean);
      for (const double x : column) square += x * x / n;
      if (!(square > 0) || !std::isfinite(square)) continue;
      for (double& x : column) x /= std::sqrt(square);
      columns.push_back(std::move(column));
    }
  }
  Table table{.columns = columns.size()};
  for (std::size_t i = 0; i < traces; ++i) {
    for (const auto& column : columns) table.values.push_back(column[i]);
  }
  return table;
}

// Least squares with a little ridge, on every second row from `first` on.
class Regression {
 public:
  Regression(const Table& features, std::size_t first) : x_(features), d_(features.columns) {
    factor_.assign(d_ * d_, 0);
    for (std::size_t i = first; i * d_ < x_.values.size(); i += 2) {
      const double* x = x_.row(i);
      for (std::size_t r = 0; r < d_; ++r) {
        for (std::size_t c = 0; c <= r; ++c) factor_[r * d_ + c] += x[r] * x[c];
      }
    }
    for (std::size_t r = 0; r < d_; ++r) factor_[r * d_ + r] += 1e-3;
    for (std::size_t r = 0; r < d_; ++r) {  // Cholesky's factor, in place
      for (std::size_t c = 0; c <= r; ++c) {
        double rest = factor_[r * d_ + c];
        for (std::size_t k = 0; k < c; ++k) rest -= factor_[r * d_ + k] * factor_[c * d_ + k];
        factor_[r * d_ + c] = r == c ? std::sqrt(rest) : rest / factor_[c * d_ + c];
      }
    }
  }

  // From the products of the features with what is predicted.
  std::vector<double> weights(std::vector<double> w) const {
    for (std::size_t r = 0; r < d_; ++r) {
      for (std::size_t k = 0; k < r; ++k) w[r] -= factor_[r * d_ + k] * w[k];
      w[r] /= factor_[r * d_ + r];
    }
    for (std::size_t r = d_; r-- > 0;) {
      for (std::size_t k = r + 1; k < d_; ++k) w[r] -= factor_[k * d_ + r] * w[k];
      w[r] /= factor_[r * d_ + r];
    }
    return w;
  }

 private:
  const Table& x_;
  std::size_t d_;
  std::vector<double> factor_;
};

double residual(const Table& x, const Latent& latent, std::size_t component,
                const std::vector<double>& weights, std::size_t i) {
  double rest = latent.coordinates.row(i)[component];
  for (std::size_t j = 0; j < x.columns; ++j) rest -= weights[j] * x.row(i)[j];
  return rest;
}

// Summed over the rows that were not fitted to; 0 if by those that were it does not help.
double gain_of(const Table& x, const Latent& latent, const Regression& fit, std::size_t first) {
  const std::size_t rows = latent.log_prior.size(), d = x.columns;
  std::array<double, 2> gain{};  // fitted, judged
  for (std::size_t i = 0; i < rows; ++i) gain[(i + first) % 2] -= latent.log_prior[i];
  double fitted = 0;
  for (std::size_t i = first; i < rows; i += 2) ++fitted;
  for (std::size_t c = 0; c < latent.coordinates.columns; ++c) {
    std::vector<double> products(d);
    for (std::size_t i = first; i < rows; i += 2) {
      for (std::size_t j = 0; j < d; ++j) products[j] += x.row(i)[j] * latent.coordinates.row(i)[c];
    }
    const std::vector<double> weights = fit.weights(std::move(products));
    std::vector<double> squares;
    for (std::size_t i = 0; i < rows; ++i) {
      const double rest = residual(x, latent, c, weights, i);
      squares.push_back(rest * rest);
    }
    double variance = 0;
    for (std::size_t i = first; i < rows; i += 2)
      variance += squares[i] / (fitted - static_cast<double>(d));
    for (std::size_t i = 0; i < rows; ++i) {
      gain[(i + first) % 2] -= 0.5 * (std::log(2 * M_PI * variance) + squares[i] / variance);
    }
  }
  const auto parameters = static_cast<double>((d + 1) * latent.coordinates.columns);
  return gain[0] > parameters ? gain[1] : 0;
}

}  // namespace

std::optional<double> linear_gain(std::span<const Trace> traces) {
  traces = traces.first(std::min(traces.size(), kMostTraces));
  if (traces.empty()) return std::nullopt;
  const std::vector<Entries> all = in_every(traces);
  const Table x = features_of(all, traces.size());
  if (x.columns < 2 || traces.size() < kTracesAFeature * x.columns) return std::nullopt;
  std::vector<Latent> latents;
  for (const Entries& entries : all) {
    if (entries[0]->role != Role::kSample || !entries[0]->control) continue;
    if (auto latent = latent_of(entries)) latents.push_back(*std::move(latent));
  }
  if (latents.empty()) return std::nullopt;
  double gain = 0;
  for (const std::size_t first : {0u, 1u}) {
    const Regression fit(x, first);
    for (const Latent& latent : latents) gain += gain_of(x, latent, fit, first);
  }
  return gain / static_cast<double>(traces.size());
}

}  // namespace psn
