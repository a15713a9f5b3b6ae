// The paper's experiments, from the data of their figures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/report/figures/bars.h"
#include "psn/report/figures/density.h"
#include "psn/report/figures/graph.h"
#include "psn/report/figures/lines.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {
namespace {

Part experiment(const ResultFolder& folder, const std::string& title) {
  return {.kind = "experiment", .title = title, .path = folder.path()};
}

// An object of objects as a table: a row for each.
Table rows_table(const std::string& caption, const Json& rows) {
  Table table{.caption = caption, .head = {""}, .rows = {}};
  for (const auto& [key, value] : rows.begin()->items()) table.head.push_back(key);
  for (const auto& [name, row] : rows.items()) {
    std::vector<std::string> cells{name};
    for (std::size_t c = 1; c < table.head.size(); ++c) {
      cells.push_back(text_at(row, table.head[c].c_str()));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Section curves_section(const ResultFolder& folder,
                       const std::vector<std::pair<const char*, const char*>>& curves) {
  Section section{.title = "Learning curves"};
  for (const auto& [file, name] : curves) {
    if (!folder.has(file)) continue;
    auto figures = learning_figures(folder.columns(file), name);
    std::move(figures.begin(), figures.end(), std::back_inserter(section.figures));
  }
  return section;
}

Figure transitions_graph(const Columns& t) {
  GraphFigure figure{.sides = {"simulator", "surrogate"}};
  const auto &from = t.texts("from"), &to = t.texts("to");
  const auto simulator = t.numbers("simulator"), surrogate = t.numbers("surrogate");
  const auto error =
      t.has("standard_error") ? t.numbers("standard_error") : std::vector<double>(from.size(), 0.0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    figure.edges.push_back({from[i], to[i], {simulator[i], surrogate[i]}, error[i]});
  }
  return graph_figure(figure);
}

constexpr std::array kEngines{std::pair("posterior_ic_simulator.csv", "IC in the simulator"),
                              std::pair("posterior_ic_surrogate.csv", "IC in the surrogate"),
                              std::pair("posterior_lmh.csv", "Metropolis-Hastings")};

// The paper's figure 3 (b), as densities and as boxes.
Section theta_section(const ResultFolder& folder, const Json& results) {
  const Columns exact = folder.columns("posterior_exact.csv");
  const auto low = exact.numbers("theta_low"), high = exact.numbers("theta_high");
  const Grid grid{low.front(), high.back(), low.size()};
  DensityFigure densities{.variable = "theta"};
  Density answer{"exact", grid, exact.numbers("probability")};
  for (double& p : answer.densities) p /= grid.width();
  densities.series.push_back(std::move(answer));
  BoxFigure boxes{.title = "Posterior of theta, by engine",
                  .reading =
                      "Boxes hold the middle half of each posterior, whiskers the middle "
                      "nine tenths, and the line is the median. All of them should look "
                      "like the exact one (figure 3 (b) of the paper).",
                  .value = "theta"};
  const Json& row = results.at("posterior").at("exact");
  boxes.boxes.push_back({"exact", "exact", number_at(row, "q05"), number_at(row, "q25"),
                         number_at(row, "q50"), number_at(row, "q75"), number_at(row, "q95")});
  for (const auto& [file, name] : kEngines) {
    const auto theta = folder.columns(file).numbers("theta");
    densities.series.push_back({name, grid, psn::densities({theta, {}}, grid)});
    boxes.boxes.push_back(box_of(name, name, theta));
  }
  Section section{.title = "Posterior of theta (figure 3 (b))"};
  section.tables.push_back(rows_table("theta given x = 5", results.at("posterior")));
  section.figures = {box_figure(boxes), density_figure(densities)};
  return section;
}

Section conditionals_section(const ResultFolder& folder) {
  const Columns go_on = folder.columns("go_on_given_theta.csv");
  LineFigure by_theta{.title = "P(c_0 = 1) given theta",
                      .reading =
                          "It should be theta itself, the diagonal. The band is two "
                          "standard errors of the surrogate.",
                      .x = "theta",
                      .y = "P(c_0 = 1)",
                      .marks = true};
  const auto theta = go_on.numbers("theta_mean"), learned = go_on.numbers("surrogate"),
             error = go_on.numbers("surrogate_standard_error");
  Line band{.name = "surrogate", .x = theta, .y = learned};
  for (std::size_t i = 0; i < theta.size(); ++i) {
    band.low.push_back(learned[i] - 2 * error[i]);
    band.high.push_back(learned[i] + 2 * error[i]);
  }
  by_theta.lines = {{.name = "simulator", .x = theta, .y = go_on.numbers("simulator")},
                    std::move(band),
                    {.name = "exact", .x = theta, .y = theta}};
  const Columns loops = folder.columns("x_given_loops.csv");
  LineFigure by_loops{.title = "Mean of x given the number of loops",
                      .reading =
                          "A surrogate that remembers how often it went round has the "
                          "simulator's line. At many loops there are few traces.",
                      .x = "loops",
                      .y = "mean of x",
                      .marks = true};
  for (const char* side : {"simulator", "surrogate"}) {
    by_loops.lines.push_back({.name = side,
                              .x = loops.numbers("loops"),
                              .y = loops.numbers(std::string(side) + "_mean_x")});
  }
  return {.title = "Conditionals", .figures = {line_figure(by_theta), line_figure(by_loops)}};
}

Section how_close(const Json& results, const ResultFolder& folder, const char* title) {
  Section section{.title = title,
                  .facts = facts_of(results, {{"kl_nats_per_trace", "KL, nats per trace"},
                                              {"kl_standard_error", "its standard error"},
                                              {"max_transition_deviation", "largest deviation"},
                                              {"max_transition_deviation_floor", "by chance alone"},
                                              {"path_total_variation", "total variation of paths"},
                                              {"path_total_variation_floor", "by chance alone"},
                                              {"largest_transition_error", "largest deviation"}})};
  section.figures.push_back(transitions_graph(folder.columns("transitions.csv")));
  return section;
}

Part control_flow_part(const ResultFolder& folder, const Json& results) {
  Part part = experiment(folder, "Experiment 1: stochastic control flow");
  part.sections = {theta_section(folder, results),
                   how_close(results, folder, "Address transitions (figure 3 (c))"),
                   conditionals_section(folder),
                   curves_section(folder, {{"learning_surrogate.csv", "Surrogate"},
                                           {"learning_inference.csv", "Inference network"}})};
  return part;
}

Figure counts_figure(const Columns& counts, const char* what) {
  LineFigure figure{.title = fmt::format("Programs by {}", what),
                    .reading =
                        "How many programs of each size either writes. The two lines should "
                        "lie on each other.",
                    .x = what,
                    .y = "programs",
                    .marks = true};
  for (const char* side : {"simulator", "surrogate"}) {
    figure.lines.push_back({.name = side, .x = counts.numbers(what), .y = counts.numbers(side)});
  }
  return line_figure(figure);
}

// Programs of at least three lines, the first few.
std::vector<std::string> example_programs(const ResultFolder& folder, const std::string& file) {
  constexpr std::size_t kPrograms = 8, kLines = 3;
  std::istringstream lines(folder.text(file));
  std::vector<std::string> programs;
  for (std::string line; programs.size() < kPrograms && std::getline(lines, line);) {
    const Json program = Json::parse(line);
    const std::string text = program.at("program");
    if (std::count(text.begin(), text.end(), '\n') < static_cast<std::ptrdiff_t>(kLines)) continue;
    const std::string fault = program.at("fault");
    programs.push_back(fault == "none" || fault.empty() ? text : "# wrong: " + fault + "\n" + text);
  }
  return programs;
}

Section examples_section(const ResultFolder& folder) {
  Section section{.title = "Example programs",
                  .text =
                      "Written by the simulator (left) and by the surrogate (right), the first "
                      "of at least three lines; they do not correspond to each other."};
  const auto left = example_programs(folder, "simulator.jsonl");
  const auto right = example_programs(folder, "surrogate.jsonl");
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    section.listings.push_back({fmt::format("Simulator, program {}", i + 1), left[i],
                                fmt::format("Surrogate, program {}", i + 1), right[i]});
  }
  return section;
}

Part synthesis_part(const ResultFolder& folder, const Json& results) {
  Part part = experiment(folder, "Experiment 2: program synthesis");
  Section valid{.title = "Are the programs correct?",
                .facts = facts_of(results, {{"programs", "programs"},
                                            {"valid_strict", "valid, strict"},
                                            {"valid_text", "valid, by text"},
                                            {"markov_baseline", "without memory"},
                                            {"tv_length", "total variation of lengths"},
                                            {"tv_length_floor", "by chance alone"},
                                            {"tv_depth", "total variation of depths"},
                                            {"tv_depth_floor", "by chance alone"}})};
  valid.facts.emplace_back("valid in the paper, of its own grammar", "0.9962");
  valid.figures = {counts_figure(folder.columns("length.csv"), "lines"),
                   counts_figure(folder.columns("depth.csv"), "depth")};
  part.sections = {std::move(valid), how_close(results, folder, "Address transitions (appendix)"),
                   curves_section(folder, {{"learning_curve.csv", "Surrogate"}}),
                   examples_section(folder)};
  return part;
}

}  // namespace

Part experiment_part(const ResultFolder& folder) {
  const Json results = folder.json("results.json");
  Part part = results.contains("table1")         ? cure_part(folder, results)
              : results.contains("valid_strict") ? synthesis_part(folder, results)
              : results.contains("posterior")
                  ? control_flow_part(folder, results)
                  : throw DataError(
                        fmt::format("'{}': results of no experiment that is known", folder.path()));
  if (results.contains("preset") && results.contains("seed")) {  // several are told apart by these
    part.title +=
        fmt::format(" ({} recipe, seed {})", text_at(results, "preset"), text_at(results, "seed"));
  }
  if (results.value("quick", false)) {
    part.sections.front().warnings.push_back("made with --quick: the figures mean little");
  }
  return part;
}

}  // namespace psn::services
