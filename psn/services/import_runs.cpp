#include "psn/services/import_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/base/text.h"
#include "psn/core/in_process.h"
#include "psn/core/run.h"
#include "psn/data/store.h"
#include "psn/io/atomic_file.h"
#include "psn/io/csv.h"
#include "psn/services/observation_json.h"

namespace psn::services {
namespace {

const RunColumn& column_of(const RunTable& table, const ImportJob& job, const std::string& name) {
  if (const RunColumn* column = table.find(name)) return *column;
  std::vector<std::string> names;
  for (const RunColumn& column : table.columns) names.push_back(column.name);
  throw InvalidArgument(fmt::format("'{}' has no column '{}'{}; it has: {}", job.table, name,
                                    suggestion(name, names), fmt::join(names, ", ")));
}

// The columns in use, and of the table's runs those that have all of them.
struct Runs {
  std::vector<const RunColumn*> latents, observed;
  std::vector<std::size_t> complete, failed;
};

Runs choose(const RunTable& table, const ImportJob& job, ImportResult& result) {
  Runs runs;
  for (const Prior& prior : job.latents) {
    runs.latents.push_back(&column_of(table, job, prior.name));
  }
  for (const std::string& name : job.observed) {
    runs.observed.push_back(&column_of(table, job, name));
  }
  std::vector<const RunColumn*> used = runs.latents;
  used.insert(used.end(), runs.observed.begin(), runs.observed.end());
  for (std::size_t run = 0; run < table.runs; ++run) {
    bool all = true;
    for (const RunColumn* column : used) {
      if (!column->missing(run)) continue;
      all = false;
      ++result.missing[column->name];
    }
    (all ? runs.complete : runs.failed).push_back(run);
  }
  for (const RunColumn& column : table.columns) {
    if (std::find(used.begin(), used.end(), &column) == used.end()) {
      result.unused.push_back(column.name);
    }
  }
  result.runs = table.runs;
  result.traces = runs.complete.size();
  result.failed = runs.failed.size();
  if (runs.complete.empty()) {
    throw InvalidArgument(fmt::format("'{}' has no run with all of these columns", job.table));
  }
  return runs;
}

void check_priors(const Runs& runs, const ImportJob& job) {
  for (std::size_t i = 0; i < runs.latents.size(); ++i) {
    for (const std::size_t run : runs.complete) {
      const Value value = runs.latents[i]->of_run(run);
      const Distribution& prior = job.latents[i].distribution;
      if (value.size() == prior.size() && prior.log_prob(value) > -kInfinity) continue;
      throw InvalidArgument(fmt::format("'{}', run {}: '{}' = {} is impossible under {}", job.table,
                                        run + 1, job.latents[i].name, value.text(), prior.text()));
    }
  }
}

// Hands out the latents of a run of the table; the program looks up the outputs of the same.
class RowGuide : public Guide {
 public:
  RowGuide(const Runs& runs, std::size_t& row) : runs_(runs), row_(row) {}

  void begin(Slot, const Ticket& ticket) override {
    row_ = runs_.complete[ticket.trace];
    next_ = 0;
  }
  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      choices[i] = {runs_.latents[next_++]->of_run(row_), std::nullopt};
    }
  }

 private:
  const Runs& runs_;
  std::size_t& row_;
  std::size_t next_ = 0;
};

void write_store(const Runs& runs, const ImportJob& job) {
  std::size_t row = 0;
  const std::string name = std::filesystem::path(job.table).filename().string();
  InProcess simulator(Model(name, [&](Context& context) {
    for (const Prior& prior : job.latents) {
      context.sample(prior.distribution, {.name = prior.name});
    }
    for (const RunColumn* column : runs.observed) {
      context.observe_value(column->of_run(row), {.name = column->name});
    }
  }));
  data::StoreWriter writer(job.store, {{name, 0}}, simulator.addresses());
  if (writer.size() > 0) throw DataError(fmt::format("'{}' has traces already", job.store));
  RunOptions options;
  options.keep_distributions = true;
  run_traces(
      simulator, runs.complete.size(), [&] { return std::make_unique<RowGuide>(runs, row); },
      [&](std::uint64_t, Trace& trace) { writer.append(trace); }, options, {1, 1});
  writer.commit();
}

void write_failed(const RunTable& table, const Runs& runs, const ImportJob& job) {
  if (runs.failed.empty()) return;
  std::string text = "run";
  for (const RunColumn& column : table.columns) {
    const std::size_t width = element_count(column.shape);
    for (std::size_t k = 0; k < width; ++k) {
      text += "," +
              csv_cell(column.shape.empty() ? column.name : fmt::format("{}[{}]", column.name, k));
    }
  }
  for (const std::size_t run : runs.failed) {
    text += fmt::format("\n{}", run + 1);
    for (const RunColumn& column : table.columns) {
      for (const double x : column.of_run(run)) text += std::isnan(x) ? "," : fmt::format(",{}", x);
    }
  }
  write_file_atomically(job.store + "/failed.csv", text + "\n");
}

}  // namespace

Prior prior_of(const std::string& text) {
  const auto equals = text.find('='), open = text.find('(');
  const auto refuse = [&](const std::string& why) {
    return InvalidArgument(fmt::format("prior '{}': {}", text, why));
  };
  if (equals == 0 || open == std::string::npos || equals > open || !text.ends_with(')')) {
    throw refuse("expected NAME=FAMILY(PARAMETERS), such as a=Normal(0, 1)");
  }
  const std::string family_text = text.substr(equals + 1, open - equals - 1);
  const auto family = find_family(family_text);
  if (!family) {
    std::vector<std::string> known;
    for (const FamilyInfo& each : families()) known.emplace_back(family_name(each.family));
    throw refuse(fmt::format("no family '{}'{}", family_text, suggestion(family_text, known)));
  }
  std::vector<Value> parameters;
  try {
    const std::string list = "[" + text.substr(open + 1, text.size() - open - 2) + "]";
    for (const auto& node : nlohmann::ordered_json::parse(list)) {
      parameters.push_back(value_of(node));
    }
  } catch (const std::exception&) {
    throw refuse("parameters are numbers, or lists of numbers in brackets");
  }
  const std::size_t wanted = info(*family).parameters.size();
  if (parameters.size() != wanted) {
    throw refuse(
        fmt::format("{} has {} parameters, not {}", family_text, wanted, parameters.size()));
  }
  Prior prior{text.substr(0, equals), make_distribution(*family, std::move(parameters))};
  if (const auto problem = prior.distribution.problem()) throw refuse(*problem);
  return prior;
}

ImportResult import_runs(const ImportJob& job) {
  if (job.latents.empty() || job.observed.empty()) {
    throw InvalidArgument("`latent` and `observe`: at least one column each");
  }
  const RunTable table = job.runs ? *job.runs : read_runs(job.table);
  ImportResult result;
  const Runs runs = choose(table, job, result);
  check_priors(runs, job);
  write_store(runs, job);
  write_failed(table, runs, job);
  return result;
}

}  // namespace psn::services
