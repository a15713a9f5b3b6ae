// A surrogate beside its simulator, and the zoo.
#include <fmt/format.h>

#include <cmath>

#include "psn/report/figures/bars.h"
#include "psn/report/figures/graph.h"
#include "psn/report/figures/lines.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {
namespace {

Figure comparison_graph(const Json& transitions) {
  GraphFigure figure{.sides = {"simulator", "surrogate"}};
  for (const Json& t : transitions) {
    figure.edges.push_back(
        {t.at("from"),
         t.at("to"),
         {t.at("probability").at(0).get<double>(), t.at("probability").at(1).get<double>()},
         number_at(t, "standard_error")});
  }
  return graph_figure(figure);
}

Figure kl_by_address(const Json& addresses) {
  BarFigure figure{.title = "KL by address",
                   .reading =
                       "How far the surrogate is from the simulator at each address, in "
                       "nats per trace; values and transitions apart. Long bars say where "
                       "it errs; all of them together are its KL.",
                   .value = "nats per trace"};
  constexpr std::size_t kMost = 15;
  for (const Json& a : addresses) {
    if (figure.bars.size() >= 2 * kMost) break;
    figure.bars.push_back({a.at("address"), "value", number_at(a, "value_kl")});
    figure.bars.push_back({a.at("address"), "transition", number_at(a, "transition_kl")});
  }
  return bar_figure(figure);
}

Figure means_figure(const Json& means) {
  const std::string variable = text_at(means, "variable"), by = text_at(means, "by");
  LineFigure figure{.title = fmt::format("Mean of {} given {}", variable, by),
                    .reading =
                        "The mean in each bin, with a band of two standard errors. The two "
                        "lines should lie in each other's bands.",
                    .x = by,
                    .y = "mean of " + variable,
                    .marks = true};
  for (const char* side : {"simulator", "surrogate"}) {
    Line line{.name = side, .x = {}, .y = {}};
    for (const Json& row : means.at("bins")) {
      const Json& bin = row.at(side);
      const double mean = number_at(bin, "mean"), error = number_at(bin, "standard_error");
      line.x.push_back(number_at(bin, "by_mean"));
      line.y.push_back(mean);
      line.low.push_back(mean - 2 * error);
      line.high.push_back(mean + 2 * error);
    }
    figure.lines.push_back(std::move(line));
  }
  return line_figure(figure);
}

std::string against_floor(const Json& json, const char* key) {
  return fmt::format("{} ({})", shown(number_at(json, key)),
                     shown(number_at(json, (std::string(key) + "_floor").c_str())));
}

}  // namespace

Part comparison_part(const ResultFolder& folder) {
  const Json json = folder.json("comparison.json");
  Part part{.kind = "comparison",
            .title = fmt::format("Comparison: {} in place of {}", text_at(json, "surrogate"),
                                 text_at(json, "model")),
            .path = folder.path()};
  Section about{.title = "How close the surrogate is",
                .text =
                    "In brackets: the same between two samples of the simulator, which is what "
                    "chance alone makes.",
                .facts = facts_of(json, {{"traces", "traces of each"},
                                         {"kl_nats_per_trace", "KL, nats per trace"},
                                         {"kl_standard_error", "its standard error"},
                                         {"unknown_mass", "mass on unknown"},
                                         {"unseen_traces", "traces with something unseen"}})};
  about.facts.emplace_back("total variation of paths", against_floor(json, "path_total_variation"));
  about.facts.emplace_back("largest deviation of a transition",
                           against_floor(json, "max_transition_deviation"));
  about.figures.push_back(kl_by_address(json.at("addresses")));
  if (json.contains("conditional_means")) {
    about.figures.push_back(means_figure(json["conditional_means"]));
  }
  part.sections.push_back(std::move(about));
  part.sections.push_back({.title = "Address transitions",
                           .figures = {comparison_graph(json.at("transitions_above_1_percent"))}});
  add_traces(folder, part);
  return part;
}

Part zoo_part(const ResultFolder& folder) {
  const Json json = folder.json("zoo.json");
  Part part{.kind = "zoo", .title = "The zoo", .path = folder.path()};
  Section section{.title = "Programs that psn was not made for",
                  .facts = facts_of(json, {{"budget_seconds", "seconds of training each"},
                                           {"runs", "stored runs"},
                                           {"samples", "samples"},
                                           {"seed", "seed"}})};
  Table table{.caption = "How each program fared",
              .head = {"program", "simulator runs", "choices a trace", "KL a trace", "KL a choice",
                       "ESS share in the simulator", "its error, sd", "ESS share in the surrogate",
                       "its error, sd", "warnings"},
              .rows = {}};
  BarFigure kl{.title = "KL of the surrogates",
               .reading =
                   "How far each surrogate is from its program, in nats per choice, on a "
                   "logarithmic scale. Left of the line (.01) it is hard to tell apart.",
               .value = "nats per choice",
               .log = true,
               .limit = 0.01};
  BarFigure error{.title = "Error of posterior means",
                  .reading =
                      "The worst mean of each program in units of its posterior's standard "
                      "deviation. Left of the line (.1) it does not matter.",
                  .value = "standard deviations",
                  .log = true,
                  .limit = 0.1};
  BarFigure ess{.title = "Effective samples",
                .reading =
                    "The share of the samples that inference compilation makes use of. "
                    "Right of the line (.3) the network proposes well.",
                .value = "share",
                .limit = 0.3};
  for (const Json& trial : json.at("trials")) {
    const std::string name = trial.at("program");
    const Json &real = trial.at("ic_in_simulator"), &learned = trial.at("ic_in_surrogate");
    table.rows.push_back({name, text_at(trial, "simulator_runs"), text_at(trial, "choices"),
                          text_at(trial, "kl_nats_per_trace"), text_at(trial, "kl_nats_per_choice"),
                          text_at(real, "ess_share"), text_at(real, "error_in_sd"),
                          text_at(learned, "ess_share"), text_at(learned, "error_in_sd"),
                          fmt::format("{}", trial.at("warnings").size())});
    kl.bars.push_back({name, "surrogate", number_at(trial, "kl_nats_per_choice")});
    for (const auto& [side, result] :
         {std::pair("in the simulator", &real), std::pair("in the surrogate", &learned)}) {
      error.bars.push_back({name, side, number_at(*result, "error_in_sd")});
      ess.bars.push_back({name, side, number_at(*result, "ess_share")});
    }
    for (const std::string warning : trial.at("warnings")) {
      section.warnings.push_back(name + ": " + warning);
    }
  }
  section.tables.push_back(std::move(table));
  section.figures = {bar_figure(kl), bar_figure(error), bar_figure(ess)};
  part.sections.push_back(std::move(section));
  return part;
}

}  // namespace psn::services
