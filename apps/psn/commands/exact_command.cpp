// psn exact: the posterior of a built-in model from something else than psn's engines.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/page_output.h"
#include "experiments/control_flow/control_flow.h"
#include "experiments/zoo/zoo.h"
#include "psn/base/error.h"
#include "psn/services/infer.h"
#include "psn/services/output_directory.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

struct ExactOptions {
  CommonOptions common;
  std::string model = "control-flow", out;
  double x = 5;
  std::size_t draws = 10'000;
  bool open = false;
};

struct Answer {
  Json json;
  Observations observed;
  std::optional<Posterior> draws;  // nullopt: there are none, only means
};

// Draws as samples of equal weight: rows of all components, in the order of the queries.
Posterior samples_of(const std::vector<double>& rows, std::size_t count,
                     const std::vector<Query>& judged) {
  const std::size_t width = rows.size() / count;
  std::vector<Query> queries = judged;
  std::size_t at = 0;
  for (Query& query : queries) {
    const std::size_t size = element_count(query.shape);
    query.compute = [=, shape = query.shape](const Trace& row) {
      const double* first = row.result.data() + at;
      return shape.empty() ? Value(*first) : Value(std::vector<double>(first, first + size), shape);
    };
    at += size;
  }
  Posterior samples(std::move(queries), count);
  Trace row;
  for (std::size_t i = 0; i < count; ++i) {
    row.result = Value(std::span(rows).subspan(i * width, width));
    samples.put(i, row, 0);
  }
  return samples;
}

Answer control_flow_answer(const ExactOptions& options) {
  const control_flow::ExactPosterior exact(options.x);
  Json column{{"mean", exact.mean()}, {"sd", exact.sd()}};
  for (const auto& [name, p] : std::initializer_list<std::pair<const char*, double>>{
           {"q05", 0.05}, {"q25", 0.25}, {"q50", 0.5}, {"q75", 0.75}, {"q95", 0.95}}) {
    column[name] = exact.quantile(p);
  }
  Answer answer{
      .json = {{"posterior", {{"theta", column}}}, {"log_evidence", std::log(exact.evidence())}},
      .observed = {},
      .draws = {}};
  answer.observed.set("x", Value(options.x));
  if (options.out.empty()) return answer;
  std::vector<double> theta(options.draws);  // one of each of so many equally probable parts
  for (std::size_t i = 0; i < theta.size(); ++i) {
    theta[i] = exact.quantile((static_cast<double>(i) + 0.5) / static_cast<double>(theta.size()));
  }
  answer.draws = samples_of(theta, theta.size(), {Query{.name = "theta"}});
  return answer;
}

Answer zoo_answer(const zoo::Program& program, const ExactOptions& options) {
  const zoo::Answer answer = program.answer();
  Json posterior;
  std::size_t k = 0;
  for (const Query& query : program.judged) {
    const std::size_t size = element_count(query.shape);
    for (std::size_t i = 0; i < size; ++i, ++k) {
      Json column{{"mean", answer.mean[k]}, {"sd", answer.sd[k]}};
      if (!answer.error.empty()) column["error"] = answer.error[k];
      posterior[query.shape.empty() ? query.name : fmt::format("{}[{}]", query.name, i)] = column;
    }
  }
  Json json{{"source", program.source}, {"posterior", posterior}};
  if (answer.log_evidence) json["log_evidence"] = *answer.log_evidence;
  json["observed"] = Json::parse(services::observations_json(program.observed));
  Answer result{.json = std::move(json), .observed = program.observed, .draws = {}};
  if (!options.out.empty() && program.draw) {
    result.draws =
        samples_of(program.draw(options.draws, options.common.seed), options.draws, program.judged);
  }
  return result;
}

Answer exact_answer(const ExactOptions& options) {
  if (options.model == "control-flow") return control_flow_answer(options);
  for (const zoo::Program& program : zoo::programs()) {
    if (program.model.name == options.model) return zoo_answer(program, options);
  }
  throw InvalidArgument(fmt::format(
      "no answer for '{}': psn exact knows control-flow and the zoo (psn models)", options.model));
}

void print_answer(const Json& json) {
  bool first = true;
  for (const auto& [name, column] : json["posterior"].items()) {
    if (std::exchange(first, false)) {
      fmt::print("{:16}", "");
      for (const auto& [key, value] : column.items()) fmt::print(" {:>10}", key);
      fmt::print("\n");
    }
    fmt::print("{:>16}", name);
    for (const auto& [key, value] : column.items()) fmt::print(" {:>10.5g}", value.get<double>());
    fmt::print("\n");
  }
  if (json.contains("log_evidence")) {
    fmt::print("log evidence {:.4f}\n", json["log_evidence"].get<double>());
  }
  if (json.contains("source")) fmt::print("from {}\n", json["source"].get<std::string>());
}

void exact_command(const ExactOptions& options, const CLI::App& command) {
  services::OutputDirectory out(options.out);
  const Answer answer = exact_answer(options);
  if (out) {
    Json summary{{"kind", "exact"}, {"model", options.model}};
    summary.update(answer.json);
    out.write(services::kConfigFile, effective_config(command));
    out.write("observations.json", services::observations_json(answer.observed));
    if (answer.draws) answer.draws->save(out.file(services::kSamplesFile));
    out.write("summary.json", summary.dump(2) + "\n");
    out.publish();
  }
  if (options.common.json) {
    fmt::print("{}\n", answer.json.dump(2));
  } else {
    print_answer(answer.json);
  }
  leave_page(options.out, {options.common.quiet, options.open});
}

}  // namespace

void add_exact_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "exact", "the posterior of control-flow or of a model of the zoo, by other means than psn's");
  auto options = std::make_shared<ExactOptions>();
  auto& o = *options;
  command->add_option("model,--model", o.model, "control-flow, or one of the zoo (psn models)")
      ->capture_default_str();
  command->add_option("--x", o.x, "the observation of control-flow")
      ->capture_default_str()
      ->check(finite_between(-50, 300));
  command->add_option("--out", o.out,
                      "directory for the answer, with draws of it where there are any; psn report "
                      "shows it beside the same posterior from psn infer");
  command->add_option("-n,--draws", o.draws, "how many of them")
      ->capture_default_str()
      ->check(CLI::Range(100, 1'000'000));
  add_open(*command, o.open);
  o.common.add_to(*command);
  command->callback([options, command] { exact_command(*options, *command); });
}

}  // namespace psn::app
