// The results as files: results.json, and data and drawing of each figure.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/composite_cure/composite_cure.h"
#include "experiments/composite_cure/results.h"
#include "psn/nn/network_file.h"
#include "psn/report/heat_map.h"

namespace psn::composite_cure {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "https://vega.github.io/schema/vega-lite/v5.json";

Json posterior_json(const Posterior& posterior) {
  const double sd = std::sqrt(posterior.variance("mu_w")), ess = posterior.effective_sample_size();
  return {{"mean", posterior.mean("mu_w")},
          {"sd", sd},
          {"ess", ess},
          {"standard_error", sd / std::sqrt(ess)},
          {"samples", posterior.size()}};
}

// The first of the judge's samples: what the table compares with.
Posterior ground_truth(const CaseResults& results, std::uint64_t samples) {
  std::vector<std::size_t> rows(std::min<std::size_t>(samples, results.judge.posterior.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  return results.judge.posterior.select(rows);
}

Json table_json(const Results& results, const Plan& plan) {
  Json table;
  for (std::size_t c = 0; c < kCases.size(); ++c) {
    const CaseResults& of = results.cases[c];
    table[kCases[c].name] = {{"gt", posterior_json(ground_truth(of, plan.samples))},
                             {"ic_simulator", posterior_json(of.ic_simulator.posterior)},
                             {"ic_surrogate", posterior_json(of.ic_surrogate.posterior)},
                             {"ic_smallest", posterior_json(of.ic_smallest.posterior)},
                             {"judge", posterior_json(of.judge.posterior)}};
  }
  return table;
}

double mean_speed(const Results& results, Inferred CaseResults::*engine) {
  double seconds = 0;
  for (const CaseResults& of : results.cases) seconds += 1 / (of.*engine).traces_per_second;
  return static_cast<double>(results.cases.size()) / seconds;
}

// Root mean squares, C.
void add_errors(Json& json, const FieldError& field) {
  json["field_rmse"] = field.rms;
  json["field_max"] = field.largest;
  json["sensor_rmse"] = field.sensor_rms;
}

Json training_json(const Preset& recipe, const TrainedNetwork& trained) {
  const TrainOptions& t = recipe.training;
  return {{"network", Json::parse(config_json(recipe.network))},
          {"traces", t.traces},
          {"batch_size", t.batch_size},
          {"learning_rate", t.rate.learning_rate},
          {"seconds", trained.seconds()}};
}

double minutes_of(std::size_t time) {
  return static_cast<double>(time + 1) * kSampling / kMinute;
}

double millimetres_of(std::size_t depth) {
  return static_cast<double>(depth) * kDepthSpacing * 1e3;
}

std::string field_csv(const FieldError& field) {
  std::string csv = "minutes,depth_mm,expected_squared_difference\n";
  for (std::size_t i = 0; i < field.squared.size(); ++i) {
    csv += fmt::format("{},{},{}\n", minutes_of(i / kDepths), millimetres_of(i % kDepths),
                       field.squared[i]);
  }
  return csv;
}

std::string samples_csv(const FieldError& field) {
  std::string csv = "sample,minutes,depth_mm,simulator,surrogate\n";
  for (std::size_t s = 0; s < field.samples.size(); ++s) {
    const auto& [simulator, surrogate] = field.samples[s];
    for (std::size_t i = 0; i < simulator.size(); ++i) {
      csv += fmt::format("{},{},{},{:.2f},{:.2f}\n", s + 1, minutes_of(i / kDepths),
                         millimetres_of(i % kDepths), simulator[i], surrogate[i]);
    }
  }
  return csv;
}

HeatMap heat_map(std::vector<HeatMap::Panel> panels, const char* unit) {
  return {.panels = std::move(panels),
          .rows = {"minutes", minutes_of(0), minutes_of(1) - minutes_of(0)},
          .columns = {"mm above the bottom of the tool", 0, millimetres_of(1)},
          .width = kDepths,
          .unit = unit};
}

Json resampled_rows(const Results& results, const Plan& plan, std::uint64_t seed) {
  Json rows = Json::array();
  constexpr std::size_t kDrawn = 2'000;
  for (std::size_t c = 0; c < kCases.size(); ++c) {
    const CaseResults& of = results.cases[c];
    const Posterior truth = ground_truth(of, plan.samples);
    for (const auto& [engine, posterior] :
         {std::pair{"SIS, prior proposal", &truth},
          std::pair{"IC in simulator", &of.ic_simulator.posterior},
          std::pair{"IC in surrogate", &of.ic_surrogate.posterior}}) {
      Rng rng(seed, c, 0x626f78);
      for (const double x : posterior->resample(kDrawn, rng).column("mu_w").data) {
        rows.push_back({{"observed", kCases[c].name}, {"engine", engine}, {"mu_w", x}});
      }
    }
  }
  return rows;
}

std::string box_plots(Json rows) {
  const auto nominal = [](const char* field) {
    return Json{{"field", field}, {"type", "nominal"}, {"title", nullptr}, {"sort", nullptr}};
  };
  Json offset = nominal("engine"), colour = nominal("engine");
  const Json json{{"$schema", kSchema},
                  {"data", {{"values", std::move(rows)}}},
                  {"mark", {{"type", "boxplot"}, {"extent", "min-max"}}},
                  {"width", 420},
                  {"encoding",
                   {{"x", nominal("observed")},
                    {"xOffset", offset},
                    {"color", colour},
                    {"y",
                     {{"field", "mu_w"},
                      {"type", "quantitative"},
                      {"title", "mu_w (C)"},
                      {"scale", {{"zero", false}}}}}}}};
  return json.dump() + "\n";
}

// Lines of (x, y) by name.
struct Line {
  std::string name;
  double x, y;
};

std::string line_chart(const std::vector<Line>& points, const char* x, const char* y, bool log_x) {
  Json values = Json::array();
  for (const Line& p : points) values.push_back({{"line", p.name}, {"x", p.x}, {"y", p.y}});
  const Json json{
      {"$schema", kSchema},
      {"data", {{"values", std::move(values)}}},
      {"mark", {{"type", "line"}, {"point", true}}},
      {"width", 420},
      {"encoding",
       {{"x",
         {{"field", "x"},
          {"type", "quantitative"},
          {"title", x},
          {"scale", {{"type", log_x ? "log" : "linear"}}}}},
        {"y",
         {{"field", "y"}, {"type", "quantitative"}, {"title", y}, {"scale", {{"type", "log"}}}}},
        {"color", {{"field", "line"}, {"type", "nominal"}, {"title", nullptr}}}}}};
  return json.dump() + "\n";
}

std::string lines_csv(const std::vector<Line>& points, const char* header) {
  std::string csv = fmt::format("line,{}\n", header);
  for (const Line& p : points) csv += fmt::format("{},{},{}\n", p.name, p.x, p.y);
  return csv;
}

// Nats per trace: KL of a surrogate, -log q of a proposal.
std::vector<Line> learning_curve(const TrainedNetwork& trained) {
  std::vector<Line> lines;
  const bool infers = trained.network->infers();
  for (const auto& [p, measured] : trained.curve) {
    if (!p.validation) continue;
    const auto traces = static_cast<double>(p.traces);
    lines.push_back({"training", traces, infers ? p.loss : p.kl});
    lines.push_back({"validation", traces, infers ? p.validation->loss : p.validation->kl});
  }
  return lines;
}

std::vector<Line> tuning_curve(const Results& results) {
  std::vector<Line> lines;
  for (const TuningPoint& p : results.tuning) {
    const auto traces = static_cast<double>(p.traces);
    lines.push_back({"from the 1D surrogate", traces, p.from_slab});
    lines.push_back({"from nothing", traces, p.from_nothing});
  }
  return lines;
}

void add_curve(ExperimentReport& report, const std::string& name, const std::vector<Line>& lines,
               const char* x, const char* y, bool log_x) {
  report.files[name + ".vl.json"] = line_chart(lines, x, y, log_x);
  report.files[name + ".csv"] = lines_csv(lines, "x,y");
}

void add_figures(ExperimentReport& report, const Results& results, const Plan& plan,
                 std::uint64_t seed) {
  const FieldError& field = results.field;
  report.files["field.csv"] = field_csv(field);
  report.files["field_samples.csv"] = samples_csv(field);
  const FieldError::Sample& first = field.samples.front();
  report.files["field.vl.json"] =
      vega_lite(heat_map({{"simulator", first.simulator}, {"surrogate", first.surrogate}}, "C"));
  report.files["difference.vl.json"] =
      vega_lite(heat_map({{"expected squared difference", field.squared}}, "C^2"));
  const Json rows = resampled_rows(results, plan, seed);
  std::string csv = "observed,engine,mu_w\n";
  for (const Json& row : rows) {
    csv += fmt::format("{},\"{}\",{}\n", row["observed"].get<std::string>(),
                       row["engine"].get<std::string>(), row["mu_w"].get<double>());
  }
  report.files["mu_w.csv"] = csv;
  report.files["mu_w.vl.json"] = box_plots(rows);
  add_curve(report, "learning_surrogate", learning_curve(results.surrogate), "traces seen",
            "KL from the simulator (nats per trace)", false);
  add_curve(report, "learning_inference", learning_curve(results.inference), "traces seen",
            "-log q (nats per trace)", false);
  add_curve(report, "tuning", tuning_curve(results), "traces of the cross-section",
            "rms error of the field (C)", true);
}

std::string summary(const Json& json) {
  std::string text = fmt::format("{:>10} {:>14} {:>9} {:>7} {:>8} {:>9}\n", "observed", "", "mu_w",
                                 "sd", "ESS", "of");
  for (const auto& [observed, engines] : json["table1"].items()) {
    for (const auto& [engine, column] : engines.items()) {
      text += fmt::format("{:>10} {:>14} {:>9.3f} {:>7.3f} {:>8.0f} {:>9}\n", observed, engine,
                          column["mean"].get<double>(), column["sd"].get<double>(),
                          column["ess"].get<double>(), column["samples"].get<std::uint64_t>());
    }
  }
  for (const auto& [name, errors] :
       {std::pair{"surrogate", &json}, std::pair{"smallest surrogate", &json["smallest"]}}) {
    text += fmt::format(
        "{}: rms error of the field {:.3f} C, at most {:.3f} C at a time and depth\n", name,
        (*errors)["field_rmse"].get<double>(), (*errors)["field_max"].get<double>());
  }
  for (const auto& [name, speed] : json["traces_per_second"].items()) {
    text += fmt::format("{:>22}: {:.1f} traces/s\n", name, speed.get<double>());
  }
  text += fmt::format("2D, rms error of the field: {:.3f} C untuned\n",
                      json["tuning"]["untuned"].get<double>());
  for (const Json& point : json["tuning"]["tuned"]) {
    text += fmt::format("  {} traces: {:.3f} C from the 1D surrogate, {:.3f} C from nothing\n",
                        point["traces"].get<std::uint64_t>(), point["from_1d"].get<double>(),
                        point["from_nothing"].get<double>());
  }
  return text;
}

}  // namespace

ExperimentReport write_report(const Results& results, const Plan& plan,
                              const ExperimentRequest& request) {
  const Speeds& speeds = results.speeds;
  const double ic_simulator = mean_speed(results, &CaseResults::ic_simulator);
  const double ic_surrogate = mean_speed(results, &CaseResults::ic_surrogate);
  Json json{{"kind", "experiment"},
            {"preset", request.preset},
            {"seed", request.seed},
            {"quick", request.quick}};
  json["stored_traces"] = plan.stored;
  json["surrogate"] = training_json(plan.surrogate, results.surrogate);
  json["inference"] = training_json(plan.inference, results.inference);
  json["table1"] = table_json(results, plan);
  json["traces_per_second"] = {{"simulator_1d", speeds.simulator_1d},
                               {"simulator_2d", speeds.simulator_2d},
                               {"surrogate", speeds.surrogate},
                               {"surrogate_smallest", speeds.surrogate_smallest},
                               {"surrogate_paper_size", speeds.surrogate_paper_size},
                               {"ic_simulator_1d", ic_simulator},
                               {"ic_simulator_2d", speeds.ic_simulator_2d},
                               {"ic_surrogate", ic_surrogate},
                               {"ic_smallest", mean_speed(results, &CaseResults::ic_smallest)}};
  json["times_faster"] = {{"generation_1d", speeds.surrogate / speeds.simulator_1d},
                          {"generation_2d", speeds.surrogate / speeds.simulator_2d},
                          {"ic_1d", ic_surrogate / ic_simulator},
                          {"ic_2d", ic_surrogate / speeds.ic_simulator_2d}};
  add_errors(json, results.field);
  json["smallest"] = training_json(plan.smallest, results.smallest);
  add_errors(json["smallest"], results.field_smallest);
  json["tuning"] = {{"untuned", results.untuned}};
  for (const TuningPoint& p : results.tuning) {
    json["tuning"]["tuned"].push_back(
        {{"traces", p.traces}, {"from_1d", p.from_slab}, {"from_nothing", p.from_nothing}});
  }
  ExperimentReport report;
  report.results = json.dump(2) + "\n";
  report.summary = summary(json);
  report.files["results.json"] = report.results;
  add_figures(report, results, plan, request.seed);
  return report;
}

}  // namespace psn::composite_cure
