// Posterior: what an engine hands back: weighted samples, as columns (a projection of the traces
// onto the quantities asked for) and, if wanted, as whole traces.
//
// A sample in which a quantity does not occur holds NaN there: a branch that was not taken.
// Statistics of such a column are conditional on its occurring; probability() tells how often.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "psn/base/rng.h"
#include "psn/core/trace.h"

namespace psn {

struct TensorFile;

// A quantity to keep of every trace.
struct Query {
  std::string name;
  Shape shape{};
  // Computes it; empty: the variable, tag or observation of that name (its last occurrence).
  std::function<Value(const Trace&)> compute{};
};

struct Column {
  std::string name;
  Shape shape;
  std::vector<double> data;  // row-major: sample, component

  std::size_t width() const { return element_count(shape); }
};

struct Histogram {
  std::vector<double> edges;          // bins + 1
  std::vector<double> probabilities;  // sum to one
};

class Posterior {
 public:
  // A million samples of one scalar take 16 MB.
  Posterior(std::vector<Query> queries, std::size_t size, bool keep_traces = false);

  // For engines: fills sample i. Different i may be filled from different threads.
  void put(std::size_t i, const Trace& trace, double log_weight);
  void put_again(std::size_t i, std::size_t same_as) { put_from(i, *this, same_as); }
  // Sample i is that of another posterior, of the same columns.
  bool same_columns(const Posterior& other) const;
  void put_from(std::size_t i, const Posterior& other, std::size_t row);
  // The samples are `chains` Markov chains of equal length, one after the other.
  void set_chains(std::size_t chains) { chains_ = chains; }

  std::size_t size() const { return log_weights_.size(); }
  std::size_t chains() const { return chains_; }  // 0: independent samples
  const std::vector<double>& log_weights() const { return log_weights_; }
  std::vector<double> weights() const;  // normalised to sum one; throws ModelError if all are zero

  std::vector<std::string> names() const;
  const Column& column(std::string_view name) const;  // throws InvalidArgument
  Column take_column(std::string_view name);          // and leaves the others; likewise
  const std::vector<Trace>& traces() const { return traces_; }

  // Weighted statistics of one component of a column.
  double mean(std::string_view name, std::size_t component = 0) const;
  double variance(std::string_view name, std::size_t component = 0) const;
  double quantile(std::string_view name, double p, std::size_t component = 0) const;
  std::vector<double> quantiles(std::string_view name, std::span<const double> ps,
                                std::size_t component = 0) const;
  double probability(std::string_view name, std::size_t component = 0) const;  // that it occurs
  Histogram histogram(std::string_view name, std::size_t bins, std::size_t component = 0) const;
  // The weighted expectation of f over rows; f takes a sample's index.
  double expectation(const std::function<double(std::size_t)>& f) const;

  // (sum w)^2 / sum w^2; for chains see infer/diagnostics.h.
  double effective_sample_size() const;
  // log of the mean weight: an unbiased estimate of the evidence for importance samples.
  double log_evidence() const;

  // n equally weighted samples, by systematic resampling: which ones, and as a posterior.
  std::vector<std::size_t> resampled_rows(std::size_t n, Rng& rng) const;
  Posterior resample(std::size_t n, Rng& rng) const;
  // With one more column, computed from each sample's index.
  Posterior map(const std::string& name, const std::function<double(std::size_t)>& f) const;
  // These samples, with their weights.
  Posterior select(const std::vector<std::size_t>& rows) const;
  // Samples of the same columns, and chains if these have any, put behind these.
  void append(const Posterior& more);
  // The samples for which `keep` holds.
  Posterior filter(const std::function<bool(std::size_t)>& keep) const;
  double value(std::string_view name, std::size_t sample, std::size_t component = 0) const;

  // Columns and weights (not whole traces); docs/formats/posterior.md.
  void save(const std::string& path) const;
  static Posterior load(const std::string& path);
  // The same on bytes in memory; `label` stands for the file in messages.
  std::string serialize() const;
  static Posterior parse(const std::string& bytes, const std::string& label);
  TensorFile to_file() const;
  static Posterior from_file(const TensorFile& file, const std::string& label);
  void write_csv(const std::string& path) const;
  std::string to_json() const;

 private:
  void add_column(Query query, std::vector<double> data);
  std::vector<const Value*> find_all(const Trace& trace) const;

  std::vector<Query> queries_;
  std::vector<Column> columns_;
  // By name: a trace may have as many quantities as it has choices.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
  std::vector<double> log_weights_;
  std::vector<Trace> traces_;
  std::size_t chains_ = 0;
};

}  // namespace psn
