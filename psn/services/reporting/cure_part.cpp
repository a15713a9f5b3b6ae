// The paper's third experiment.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "psn/report/figures/bars.h"
#include "psn/report/figures/fields.h"
#include "psn/report/figures/lines.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {
namespace {

// What the paper has for mu_w and the ESS, of another simulator.
const std::map<std::pair<std::string, std::string>, std::pair<const char*, const char*>> kPaper{
    {{"minus", "gt"}, {"204.90", "259"}},
    {{"nominal", "gt"}, {"204.46", "304"}},
    {{"plus", "gt"}, {"203.82", "399"}},
    {{"minus", "ic_simulator"}, {"204.96", "158"}},
    {{"nominal", "ic_simulator"}, {"204.46", "340"}},
    {{"plus", "ic_simulator"}, {"203.83", "204"}},
    {{"minus", "ic_surrogate"}, {"205.01", "173"}},
    {{"nominal", "ic_surrogate"}, {"204.49", "279"}},
    {{"plus", "ic_surrogate"}, {"203.80", "292"}}};

// The paper's table 1: a row for each observed part and engine.
Table table_one(const Json& results) {
  Table table{.caption = "mu_w in C, beside the paper's Table 1 (of another simulator)",
              .head = {"observed", "engine", "mean", "sd", "ESS", "standard error", "samples",
                       "the paper's mean", "its ESS of 15000"},
              .rows = {}};
  for (const auto& [observed, engines] : results.items()) {
    for (const auto& [engine, row] : engines.items()) {
      const auto paper = kPaper.find({observed, engine});
      table.rows.push_back({observed, engine, text_at(row, "mean"), text_at(row, "sd"),
                            text_at(row, "ess"), text_at(row, "standard_error"),
                            text_at(row, "samples"),
                            paper == kPaper.end() ? "" : paper->second.first,
                            paper == kPaper.end() ? "" : paper->second.second});
    }
  }
  return table;
}

Figure mu_w_boxes(const ResultFolder& folder) {
  const Columns rows = folder.columns("mu_w.csv");
  const auto &observed = rows.texts("observed"), &engine = rows.texts("engine");
  const auto mu_w = rows.numbers("mu_w");
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::vector<double>> groups;
  for (std::size_t i = 0; i < mu_w.size(); ++i) {
    auto& group = groups[{observed[i], engine[i]}];
    if (group.empty()) order.emplace_back(observed[i], engine[i]);
    group.push_back(mu_w[i]);
  }
  BoxFigure figure{.title = "Posterior of mu_w",
                   .reading =
                       "Boxes hold the middle half of each posterior, whiskers the middle "
                       "nine tenths, and the line is the median. For each observed part the "
                       "three should agree (figure 5 (b) of the paper).",
                   .value = "mu_w (C)"};
  for (const auto& key : order) {
    figure.boxes.push_back(box_of(key.first, key.second, groups.at(key)));
  }
  return box_figure(figure);
}

// Numbers in parts of this size: a sample each.
std::vector<std::vector<double>> parts_of(const std::vector<double>& numbers, std::size_t size) {
  std::vector<std::vector<double>> parts;
  for (auto at = numbers.begin(); numbers.end() - at >= static_cast<std::ptrdiff_t>(size);
       at += static_cast<std::ptrdiff_t>(size)) {
    parts.emplace_back(at, at + static_cast<std::ptrdiff_t>(size));
  }
  return parts;
}

// The paper's figure 5 (a).
std::vector<Figure> cure_fields(const ResultFolder& folder) {
  const Columns rows = folder.columns("field.csv"), samples = folder.columns("field_samples.csv");
  const auto minutes = rows.numbers("minutes"), depth = rows.numbers("depth_mm");
  std::size_t width = 1;
  while (width < minutes.size() && minutes[width] == minutes[0]) ++width;
  if (minutes.size() <= width || width < 2) return {};
  FieldFigure field{
      .title = "Mean temperature over time and depth",
      .reading =
          "Time runs to the right and height upwards; given the same cycle and "
          "part, the simulator's mean and the surrogate's, on one scale. The two "
          "should not be told apart (figure 5 (a) of the paper); the slider goes "
          "from one held-out run to the next.",
      .panels = {{"simulator", parts_of(samples.numbers("simulator"), minutes.size())},
                 {"surrogate", parts_of(samples.numbers("surrogate"), minutes.size())}},
      .rows = {"minutes", minutes[0], minutes[width] - minutes[0]},
      .columns = {"mm above the bottom of the tool", depth[0], depth[1] - depth[0]},
      .width = width,
      .unit = "C"};
  FieldFigure difference = field;
  difference.title = "Expected squared difference";
  difference.reading =
      "Where and when the surrogate's mean differs from the simulator's, squared and given the "
      "same settings. Dark places are worst; its square root is in degrees.";
  difference.panels = {{"", {rows.numbers("expected_squared_difference")}}};
  difference.unit = "C^2";
  return {field_figure(field), field_figure(difference)};
}

// Lines by name: line, x, y.
Figure named_lines(const Columns& rows, LineFigure figure) {
  const auto& names = rows.texts("line");
  const auto x = rows.numbers("x"), y = rows.numbers("y");
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto line = std::find_if(figure.lines.begin(), figure.lines.end(),
                             [&](const Line& l) { return l.name == names[i]; });
    if (line == figure.lines.end()) {
      figure.lines.push_back({.name = names[i], .x = {}, .y = {}});
      line = std::prev(figure.lines.end());
    }
    line->x.push_back(x[i]);
    line->y.push_back(y[i]);
  }
  for (Line& line : figure.lines) line = thinned(std::move(line), 400);
  return line_figure(figure);
}

Section cure_curves(const ResultFolder& folder) {
  const std::string reading =
      "Lower is better; held-out traces (validation) tell what the network is worth. Where the "
      "lines part, it begins to remember its traces.";
  Section section{.title = "Learning curves"};
  section.figures = {
      named_lines(folder.columns("learning_surrogate.csv"),
                  {.title = "Surrogate: KL from the simulator",
                   .reading = reading,
                   .x = "traces seen",
                   .y = "nats per trace",
                   .log_y = true}),
      named_lines(folder.columns("learning_inference.csv"), {.title = "Inference network: loss",
                                                             .reading = reading,
                                                             .x = "traces seen",
                                                             .y = "-log q, nats per trace"}),
      named_lines(folder.columns("tuning.csv"),
                  {.title = "Tuning to the cross-section",
                   .reading = "How few runs of the slow simulator are enough when the network "
                              "begins from the fast one's. The lower line needs fewer.",
                   .x = "traces of the cross-section",
                   .y = "rms error of the field (C)",
                   .log_x = true,
                   .log_y = true,
                   .marks = true})};
  return section;
}

}  // namespace

Part cure_part(const ResultFolder& folder, const Json& results) {
  Part part{.kind = "experiment",
            .title = "Experiment 3: curing of a composite part",
            .path = folder.path()};
  Section posterior{.title = "Posterior of mu_w (Table 1, figure 5 (b))"};
  posterior.tables = {table_one(results.at("table1"))};
  posterior.figures = {mu_w_boxes(folder)};
  Section field{.title = "The temperature field (figure 5 (a))",
                .facts = facts_of(results, {{"field_rmse", "rms error of the field, C"},
                                            {"field_max", "at most"},
                                            {"sensor_rmse", "of the sensor"},
                                            {"stored_traces", "stored traces"}})};
  field.figures = cure_fields(folder);
  Section speed{.title = "Speed"};
  for (const auto& [name, value] : results.at("traces_per_second").items()) {
    speed.facts.emplace_back(name + ", traces/s", shown_json(value));
  }
  for (const auto& [name, value] : results.at("times_faster").items()) {
    speed.facts.emplace_back(name + ", times faster", shown_json(value));
  }
  speed.facts.emplace_back("the paper's surrogate, traces/s", "28.87, 90.16 times its simulator");
  speed.facts.emplace_back("the paper's IC in it, traces/s", "4.75, 15.32 times that in it");
  part.sections = {std::move(posterior), std::move(field), cure_curves(folder), std::move(speed)};
  return part;
}

}  // namespace psn::services
