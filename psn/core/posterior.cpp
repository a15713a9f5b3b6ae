#include "psn/core/posterior.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "psn/base/error.h"
#include "psn/base/numerics.h"

namespace psn {

Posterior::Posterior(std::vector<Query> queries, std::size_t size, bool keep_traces)
    : log_weights_(size, 0.0), traces_(keep_traces ? size : 0) {
  for (Query& query : queries) {
    std::vector<double> data(size * element_count(query.shape), kNaN);
    add_column(std::move(query), std::move(data));
  }
}

void Posterior::add_column(Query query, std::vector<double> data) {
  places_.try_emplace(query.name, columns_.size());
  columns_.push_back({query.name, query.shape, std::move(data)});
  queries_.push_back(std::move(query));
}

// What the trace has for each query: the last of its name or address.
std::vector<const Value*> Posterior::find_all(const Trace& trace) const {
  std::vector<const Value*> found(queries_.size(), nullptr);
  constexpr std::size_t kFew = 8;  // so that looking for each of them is faster
  if (queries_.size() <= kFew) {
    for (std::size_t q = 0; q < found.size(); ++q) {
      if (!queries_[q].compute) found[q] = trace.find(queries_[q].name);
    }
    return found;
  }
  const auto take = [&](const std::string& name, const Value& value) {
    const auto place = places_.find(name);
    if (place != places_.end() && !found[place->second]) found[place->second] = &value;
  };
  for (auto entry = trace.entries.rbegin(); entry != trace.entries.rend(); ++entry) {
    if (entry->role == Role::kFactor) continue;
    take(entry->address->name(), entry->value);
    take(entry->address->text, entry->value);
  }
  // Whoever is asked for twice is found once.
  for (std::size_t q = 0; q < found.size(); ++q) {
    if (!found[q]) found[q] = found[places_.find(queries_[q].name)->second];
  }
  return found;
}

void Posterior::put(std::size_t i, const Trace& trace, double log_weight) {
  const std::vector<const Value*> found = find_all(trace);
  for (std::size_t q = 0; q < queries_.size(); ++q) {
    const Query& query = queries_[q];
    Column& column = columns_[q];
    const Value computed = query.compute ? query.compute(trace) : Value();
    const Value* value = query.compute ? &computed : found[q];
    if (!value || value->empty()) continue;
    const std::size_t width = column.data.size() / log_weights_.size();
    if (value->size() != width) {
      throw ModelError(fmt::format("'{}' has shape [{}] in one trace and [{}] in another",
                                   query.name, fmt::join(query.shape, ","),
                                   fmt::join(value->shape(), ",")));
    }
    std::copy(value->begin(), value->end(), column.data.begin() + static_cast<long>(i * width));
  }
  log_weights_[i] = log_weight;
  if (!traces_.empty()) traces_[i] = trace;
}

bool Posterior::same_columns(const Posterior& other) const {
  return std::equal(
      columns_.begin(), columns_.end(), other.columns_.begin(), other.columns_.end(),
      [](const Column& a, const Column& b) { return a.name == b.name && a.shape == b.shape; });
}

void Posterior::put_from(std::size_t i, const Posterior& other, std::size_t row) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::size_t width = columns_[c].data.size() / log_weights_.size();
    std::copy_n(other.columns_[c].data.begin() + static_cast<long>(row * width), width,
                columns_[c].data.begin() + static_cast<long>(i * width));
  }
  log_weights_[i] = other.log_weights_[row];
  if (!traces_.empty()) traces_[i] = other.traces_.at(row);
}

std::vector<double> Posterior::weights() const {
  const double total = log_sum_exp(log_weights_);
  if (!std::isfinite(total)) {
    throw ModelError(
        "every sample has weight zero: the observations are impossible under the "
        "model, or far from anything that was drawn");
  }
  std::vector<double> weights(size());
  for (std::size_t i = 0; i < size(); ++i) weights[i] = std::exp(log_weights_[i] - total);
  return weights;
}

std::vector<std::string> Posterior::names() const {
  std::vector<std::string> names;
  names.reserve(columns_.size());
  for (const Column& column : columns_) names.push_back(column.name);
  return names;
}

const Column& Posterior::column(std::string_view name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    throw InvalidArgument(
        fmt::format("no '{}' in the posterior; it has: {}", name, fmt::join(names(), ", ")));
  }
  return columns_[found->second];
}

Column Posterior::take_column(std::string_view name) {
  const auto at = &column(name) - columns_.data();
  Column taken = std::move(columns_[static_cast<std::size_t>(at)]);
  columns_.erase(columns_.begin() + at);
  queries_.erase(queries_.begin() + at);
  return taken;
}

double Posterior::value(std::string_view name, std::size_t sample, std::size_t component) const {
  const Column& from = column(name);
  return from.data.at(sample * from.width() + component);
}

namespace {

// Calls f(value, weight) for the samples in which the component occurs, in order.
template <class F>
void each(const Column& column, std::size_t component, const std::vector<double>& weights, F f) {
  const std::size_t width = column.width();
  if (component >= width) {
    throw InvalidArgument(
        fmt::format("'{}' has {} components, not {}", column.name, width, component + 1));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double x = column.data[i * width + component];
    if (!std::isnan(x)) f(x, weights[i]);
  }
}

}  // namespace

double Posterior::probability(std::string_view name, std::size_t component) const {
  Sum sum;
  each(column(name), component, weights(), [&](double, double w) { sum.add(w); });
  return sum.value();
}

double Posterior::mean(std::string_view name, std::size_t component) const {
  Sum weighted, total;
  each(column(name), component, weights(), [&](double x, double w) {
    if (w == 0) return;
    weighted.add(w * x);
    total.add(w);
  });
  return weighted.value() / total.value();
}

double Posterior::variance(std::string_view name, std::size_t component) const {
  const double center = mean(name, component);
  Sum weighted, total;
  each(column(name), component, weights(), [&](double x, double w) {
    if (w == 0) return;
    weighted.add(w * (x - center) * (x - center));
    total.add(w);
  });
  return weighted.value() / total.value();
}

std::vector<double> Posterior::quantiles(std::string_view name, std::span<const double> ps,
                                         std::size_t component) const {
  for (const double p : ps) {
    if (!(p >= 0 && p <= 1)) throw InvalidArgument(fmt::format("no quantile at {}", p));
  }
  std::vector<std::pair<double, double>> points;  // value, weight
  points.reserve(size());
  each(column(name), component, weights(), [&](double x, double w) {
    if (w > 0) points.emplace_back(x, w);
  });
  std::vector<double> result(ps.size(), kNaN);
  if (points.empty()) return result;
  std::sort(points.begin(), points.end());
  Sum sum;
  for (auto& [x, w] : points) {
    sum.add(w);
    w = sum.value();
  }
  for (std::size_t i = 0; i < ps.size(); ++i) {
    // The smallest value whose cumulative weight reaches p.
    const double target = ps[i] * points.back().second;
    const auto found =
        std::lower_bound(points.begin(), points.end(), target,
                         [](const auto& point, double t) { return point.second < t; });
    result[i] = found == points.end() ? points.back().first : found->first;
  }
  return result;
}

double Posterior::quantile(std::string_view name, double p, std::size_t component) const {
  return quantiles(name, std::span(&p, 1), component)[0];
}

Histogram Posterior::histogram(std::string_view name, std::size_t bins,
                               std::size_t component) const {
  if (bins == 0) throw InvalidArgument("a histogram needs at least one bin");
  const std::vector<double> w = weights();
  double low = kInfinity, high = -kInfinity, total = 0;
  each(column(name), component, w, [&](double x, double weight) {
    if (weight == 0) return;
    low = std::min(low, x);
    high = std::max(high, x);
    total += weight;
  });
  if (!(low <= high)) return {};
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  Histogram histogram{std::vector<double>(bins + 1), std::vector<double>(bins, 0.0)};
  for (std::size_t b = 0; b <= bins; ++b) {
    histogram.edges[b] = low + (high - low) * static_cast<double>(b) / static_cast<double>(bins);
  }
  each(column(name), component, w, [&](double x, double weight) {
    if (weight == 0) return;
    const auto bin = static_cast<std::size_t>((x - low) / (high - low) * static_cast<double>(bins));
    histogram.probabilities[std::min(bin, bins - 1)] += weight / total;
  });
  return histogram;
}

double Posterior::expectation(const std::function<double(std::size_t)>& f) const {
  const std::vector<double> w = weights();
  Sum sum;
  for (std::size_t i = 0; i < size(); ++i) {
    if (w[i] > 0) sum.add(w[i] * f(i));
  }
  return sum.value();
}

double Posterior::effective_sample_size() const {
  Sum squares;
  for (const double w : weights()) squares.add(w * w);
  return 1 / squares.value();
}

double Posterior::log_evidence() const {
  return log_sum_exp(log_weights_) - std::log(static_cast<double>(size()));
}

Posterior Posterior::select(const std::vector<std::size_t>& rows) const {
  Posterior result(queries_, rows.size(), !traces_.empty());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::size_t width = columns_[c].width();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(columns_[c].data.begin() + static_cast<long>(rows[i] * width), width,
                  result.columns_[c].data.begin() + static_cast<long>(i * width));
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result.log_weights_[i] = log_weights_[rows[i]];
    if (!traces_.empty()) result.traces_[i] = traces_[rows[i]];
  }
  return result;
}

std::vector<std::size_t> Posterior::resampled_rows(std::size_t n, Rng& rng) const {
  const std::vector<double> w = weights();
  std::vector<std::size_t> rows;
  rows.reserve(n);
  const double offset = rng.uniform();
  double cumulative = 0;
  std::size_t last_possible = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (w[i] > 0) last_possible = i;
    cumulative += w[i];
    while (rows.size() < n &&
           (static_cast<double>(rows.size()) + offset) / static_cast<double>(n) < cumulative) {
      rows.push_back(i);
    }
  }
  rows.resize(n, last_possible);  // a rounding error at the very end of the cumulative sum
  return rows;
}

Posterior Posterior::resample(std::size_t n, Rng& rng) const {
  Posterior result = select(resampled_rows(n, rng));
  std::fill(result.log_weights_.begin(), result.log_weights_.end(), 0.0);
  return result;
}

Posterior Posterior::map(const std::string& name,
                         const std::function<double(std::size_t)>& f) const {
  if (places_.contains(name)) {
    throw InvalidArgument(fmt::format("the posterior has a '{}' already", name));
  }
  Posterior result = *this;
  std::vector<double> data(size());
  for (std::size_t i = 0; i < size(); ++i) data[i] = f(i);
  result.add_column({name}, std::move(data));
  return result;
}

void Posterior::append(const Posterior& more) {
  if (!same_columns(more)) throw InvalidArgument("posteriors of different quantities");
  const auto put_behind = [](auto& target, const auto& source) {
    target.insert(target.end(), source.begin(), source.end());
  };
  put_behind(log_weights_, more.log_weights_);
  put_behind(traces_, more.traces_);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    put_behind(columns_[i].data, more.columns_[i].data);
  }
  chains_ += more.chains_;
}

Posterior Posterior::filter(const std::function<bool(std::size_t)>& keep) const {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < size(); ++i) {
    if (keep(i)) rows.push_back(i);
  }
  return select(rows);
}

}  // namespace psn
