// psn exact: the posterior of a built-in model from something else than psn's engines.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "experiments/control_flow/control_flow.h"
#include "experiments/zoo/zoo.h"
#include "psn/base/error.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

Json control_flow_answer(double x) {
  const control_flow::ExactPosterior exact(x);
  Json column{{"mean", exact.mean()}, {"sd", exact.sd()}};
  for (const auto& [name, p] : std::initializer_list<std::pair<const char*, double>>{
           {"q05", 0.05}, {"q25", 0.25}, {"q50", 0.5}, {"q75", 0.75}, {"q95", 0.95}}) {
    column[name] = exact.quantile(p);
  }
  return {{"posterior", {{"theta", column}}}, {"log_evidence", std::log(exact.evidence())}};
}

Json observed_json(const Observations& observed) {
  Json json;
  for (const auto& [name, value] : observed.values()) {
    if (value.is_scalar()) {
      json[name] = value.scalar();
    } else {
      json[name] = std::vector<double>(value.begin(), value.end());
    }
  }
  return json;
}

Json zoo_answer(const zoo::Program& program) {
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
  json["observed"] = observed_json(program.observed);
  return json;
}

Json exact_answer(const std::string& name, double x) {
  if (name == "control-flow") return control_flow_answer(x);
  for (const zoo::Program& program : zoo::programs()) {
    if (program.model.name == name) return zoo_answer(program);
  }
  throw InvalidArgument(fmt::format(
      "no answer for '{}': psn exact knows control-flow and the zoo (psn models)", name));
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

}  // namespace

void add_exact_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "exact", "the posterior of control-flow or of a model of the zoo, by other means than psn's");
  auto common = std::make_shared<CommonOptions>();
  auto name = std::make_shared<std::string>("control-flow");
  auto x = std::make_shared<double>(5);
  command->add_option("model", *name, "control-flow, or one of the zoo (psn models)")
      ->capture_default_str();
  command->add_option("--x", *x, "the observation of control-flow")
      ->capture_default_str()
      ->check(finite_between(-50, 300));
  common->add_to(*command);
  command->callback([common, name, x] {
    const Json json = exact_answer(*name, *x);
    if (common->json) {
      fmt::print("{}\n", json.dump(2));
    } else {
      print_answer(json);
    }
  });
}

}  // namespace psn::app
