#include "psn/services/datasets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/infer/importance.h"
#include "psn/io/atomic_file.h"
#include "psn/io/tensor_file.h"
#include "psn/nn/run/network_guide.h"
#include "psn/services/output_directory.h"
#include "psn/services/same_options.h"

namespace psn::services {
namespace {

constexpr int kUnfinishedRowsVersion = 1;

Observations observations_of(const Trace& trace, const ObservationFilter& observed) {
  Observations observations;
  for (const Entry& entry : trace.entries) {
    if (const auto value = observed(entry)) observations.set(entry.address->text, *value);
  }
  return observations;
}

}  // namespace

std::optional<Value> any_observation(const Entry& entry) {
  return entry.role == Role::kObserve ? std::optional(entry.value) : std::nullopt;
}

std::vector<Dataset> draw_datasets(Simulator& model, std::uint64_t count,
                                   const SimulationOptions& options, Host& host,
                                   const ObservationFilter& observed) {
  std::vector<Dataset> datasets(count);
  std::vector<char> failed(count);
  RunOptions run = options.run_options(host);
  run.seed = seed_for(DrawsFor::kSimulation, options.seed);
  run.keep_distributions = true;
  run.failed = [&](std::uint64_t i) { failed[i] = 1; };
  run_traces(
      model, count, prior_guide(),
      [&](std::uint64_t i, Trace& trace) {
        datasets[i] = {trace, observations_of(trace, observed)};
      },
      run, options.parallelism);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!failed[i]) std::swap(datasets[kept++], datasets[i]);
  }
  datasets.resize(kept);
  if (kept == 0 || datasets.front().observations.empty()) {
    throw InvalidArgument(fmt::format("'{}' observes nothing", model.name()));
  }
  return datasets;
}

void RepeatedInference::run(std::uint64_t number, const Observations& observations,
                            const Sink& sink) const {
  Trace none;
  RunOptions options{.seed = Rng(seed, number, 0x647273).bits(),
                     .observations = &observations,
                     .weighs = weighted,
                     .max_length = max_length,
                     .keep_distributions = keep_distributions,
                     .monitor = monitor};
  options.failed = [&](std::uint64_t i) { sink(i, none, -kInfinity); };
  run_traces(
      simulator, draws, network ? network_guide(network, simulator, observations) : prior_guide(),
      [&](std::uint64_t i, Trace& trace) { sink(i, trace, weighted ? trace.log_weight : 0); },
      options, {width, 1});
}

UnfinishedRows::UnfinishedRows(std::string kind, const std::string& out, std::string config,
                               bool resume)
    : kind_(std::move(kind)), config_(std::move(config)) {
  if (out.empty()) {
    if (resume) throw InvalidArgument("`resume` goes on with what `out` names: `out` DIR");
    return;
  }
  const std::string base = place_beside(out);
  path_ = base + ".unfinished";
  std::error_code error;
  if (std::filesystem::is_directory(std::filesystem::absolute(path_, error).parent_path(), error)) {
    lock_.emplace(base);
    remove_abandoned(path_);
  }
  if (!std::filesystem::exists(path_, error)) return;
  if (!resume) {
    throw InvalidArgument(fmt::format(
        "'{}' is a {} that did not finish: `resume` goes on with it; or remove it", path_, kind_));
  }
  load();
}

void UnfinishedRows::load() {
  const TensorFile file =
      TensorFile::load(path_, "psn unfinished " + kind_, kUnfinishedRowsVersion);
  const auto config = file.metadata.find("config");
  const auto rows = file.tensors.find("rows");
  if (config == file.metadata.end() || rows == file.tensors.end() ||
      rows->second.shape.size() != 2) {
    throw DataError(fmt::format("'{}': not an unfinished {}", path_, kind_));
  }
  expect_same_options(path_, config->second, config_);
  const std::vector<double> values = rows->second.doubles();
  const auto width = static_cast<std::ptrdiff_t>(rows->second.shape[1]);
  // The first number of a row in the file is its place.
  for (auto at = values.begin(); width > 0 && at != values.end(); at += width) {
    const auto row = static_cast<std::size_t>(*at);
    if (row > 10'000'000) throw DataError(fmt::format("'{}': a row out of range", path_));
    if (begun_.size() <= row) begun_.resize(row + 1);
    begun_[row].assign(at + 1, at + width);
  }
}

void UnfinishedRows::expect(std::size_t rows, std::size_t width) {
  for (const auto& row : begun_) {
    if (row.empty() || (begun_.size() <= rows && row.size() == width)) continue;
    throw DataError(fmt::format("'{}' is of another model than this: remove it", path_));
  }
  rows_ = std::move(begun_);
  rows_.resize(rows);
}

std::size_t UnfinishedRows::there() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const auto& row) { return !row.empty(); }));
}

void UnfinishedRows::put(std::size_t row, std::vector<double> values) {
  const std::lock_guard lock(mutex_);
  rows_[row] = std::move(values);
}

std::string UnfinishedRows::save() const {
  if (path_.empty()) return "; with `out` what there is would be kept";
  const std::size_t count = there();
  if (count == 0) return "";
  const std::lock_guard lock(mutex_);
  std::vector<double> values;
  std::size_t width = 0, kept = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].empty()) continue;
    values.push_back(static_cast<double>(i));
    values.insert(values.end(), rows_[i].begin(), rows_[i].end());
    width = rows_[i].size() + 1;
    ++kept;
  }
  TensorFile file{.kind = "psn unfinished " + kind_, .version = kUnfinishedRowsVersion};
  file.metadata["config"] = config_;
  file.tensors["rows"] =
      Tensor::from(values, {static_cast<std::int64_t>(kept), static_cast<std::int64_t>(width)});
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::absolute(path_, error).parent_path(), error);
  file.save(path_);
  return fmt::format("; '{}' has {} data sets: `resume` goes on from there", path_, kept);
}

void UnfinishedRows::finish() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove(path_, ignored);
}

void fill_rows(UnfinishedRows& rows, std::size_t count, std::size_t threads,
               const std::function<std::vector<double>(std::size_t)>& work) try {
  std::atomic<std::size_t> next{0};
  on_threads(threads, [&](const std::atomic<bool>& cancelled) {
    for (std::size_t i = next.fetch_add(1); i < count && !cancelled.load(); i = next.fetch_add(1)) {
      if (!rows.has(i)) rows.put(i, work(i));
    }
  });
} catch (const Interrupted&) {
  throw InterruptedWork(rows.save());
}

}  // namespace psn::services
