// Validations, calibrations and criticisms (docs/formats/evidence.md).
#include <fmt/format.h>

#include <cmath>

#include "psn/report/figures/bars.h"
#include "psn/report/figures/density.h"
#include "psn/report/figures/lines.h"
#include "psn/report/figures/points.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {
namespace {

std::vector<double> numbers(const Json& list) {
  std::vector<double> result;
  for (const Json& x : list) result.push_back(x.is_number() ? x.get<double>() : std::nan(""));
  return result;
}

bool has_list(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_array() && !json[key].empty();
}

Line curve_line(const std::string& name, const Json& curve) {
  return {.name = name + (curve.value("outside", false) ? " (leaves its band)" : ""),
          .x = numbers(curve.at("z")),
          .y = numbers(curve.at("difference")),
          .low = numbers(curve.at("low")),
          .high = numbers(curve.at("high"))};
}

// The curves of that key in a list of objects, by the object's name; one is shown at a time.
void add_curves(Section& section, const Json& list, const char* name, const char* key,
                LineFigure figure) {
  for (const Json& item : list) {
    if (item.contains(key) && item[key].is_object()) {
      figure.lines.push_back(curve_line(item.at(name), item[key]));
    }
  }
  figure.one_at_a_time = true;
  if (!figure.lines.empty()) section.figures.push_back(line_figure(figure));
}

const char* const kBandReading =
    "The line should stay within the band, which it does if all is right, but for a stated chance; "
    "the worst comes first. ";

Table tests_table(const Json& json) {
  Table table{.caption = "Tests, the worst first",
              .head = {"test", "about", "p-value", "adjusted", "failed"},
              .rows = {}};
  constexpr std::size_t kMost = 200;
  for (const Json& test : json.value("tests", Json::array())) {
    if (table.rows.size() == kMost) break;
    table.rows.push_back({text_at(test, "test"), text_at(test, "what"), text_at(test, "p_value"),
                          text_at(test, "adjusted_p_value"), text_at(test, "failed")});
  }
  return table;
}

Figure tests_figure(const Json& json) {
  BarFigure figure{.title = "p-values, adjusted",
                   .reading =
                       "How surprising each test's result would be if all were right, after "
                       "accounting for how many there are. Left of the line is a failure.",
                   .value = "adjusted p-value",
                   .log = true,
                   .limit = number_at(json, "false_alarm_rate")};
  constexpr std::size_t kMost = 25;
  for (const Json& test : json.at("tests")) {
    if (figure.bars.size() == kMost) break;
    const std::string what = text_at(test, "what");
    figure.bars.push_back({text_at(test, "test") + (what.empty() ? "" : " of " + what), "",
                           std::max(number_at(test, "adjusted_p_value"), 1e-12)});
  }
  return bar_figure(figure);
}

Section verdict(const Json& json, std::vector<std::pair<const char*, const char*>> facts) {
  const bool passed = json.value("passed", false), open = json.value("undecided", false);
  Section section{.title = fmt::format("Verdict: {}", passed ? "passed"
                                                      : open ? "undecided"
                                                             : "not passed")};
  facts.emplace_back("false_alarm_rate", "chance of a false alarm, at most");
  facts.emplace_back("seed", "seed");
  section.facts = facts_of(json, facts);
  section.warnings = json.value("reasons", std::vector<std::string>{});
  const auto warnings = warnings_of(json);
  section.warnings.insert(section.warnings.end(), warnings.begin(), warnings.end());
  if (has_list(json, "tests")) {
    section.tables.push_back(tests_table(json));
    section.figures.push_back(tests_figure(json));
  }
  return section;
}

Part evidence(const ResultFolder& folder, const Json& json, const char* kind, const char* title) {
  return {.kind = kind,
          .title = fmt::format("{}: {}", title, text_at(json, "model")),
          .path = folder.path()};
}

void add_object_facts(Section& section, const Json& json, const char* key, const char* prefix) {
  if (!json.contains(key) || !json[key].is_object()) return;
  for (const auto& [name, value] : json[key].items()) {
    if (value.is_number()) section.facts.emplace_back(prefix + name, shown_json(value));
  }
}

Figure transition_bars(const Json& transitions) {
  BarFigure figure{.title = "Transitions",
                   .reading =
                       "How often the simulator went from one choice to the next, and how "
                       "probable the surrogate holds it along the same traces. Bars of a "
                       "pair should be equally long.",
                   .value = "probability"};
  constexpr std::size_t kMost = 15;
  for (const Json& t : transitions) {
    if (figure.bars.size() >= 2 * kMost) break;
    const std::string name = text_at(t, "from") + " \u2192 " + text_at(t, "to");
    figure.bars.push_back({name, "simulator", number_at(t, "simulator")});
    figure.bars.push_back({name, "surrogate", number_at(t, "surrogate")});
  }
  return bar_figure(figure);
}

Table addresses_table(const Json& addresses) {
  Table table{.caption = "By address, the worst first",
              .head = {"address", "visits", "KL of values", "KL of transitions"},
              .rows = {}};
  for (const Json& a : addresses) {
    table.rows.push_back({text_at(a, "address"), text_at(a, "visits"), text_at(a, "value_kl"),
                          text_at(a, "transition_kl")});
  }
  return table;
}

// The distribution of a list of numbers, one of each data set.
void add_histogram(Section& section, const Json& json, const char* key, const std::string& title,
                   const char* limit) {
  if (!has_list(json, key)) return;
  const auto values = numbers(json[key]);
  const Grid grid = grid_of({values, {}}, 25);
  DensityFigure figure{.variable = title,
                       .series = {{"data sets", grid, densities({values, {}}, grid)}}};
  const double at = number_at(json, limit);
  if (std::isfinite(at)) figure.mark = {"limiting", at};
  Figure made = density_figure(figure);
  made.reading =
      "How this figure is spread over the data sets that the model made. The dashed line is where "
      "weights begin or cease to be relied on.";
  section.figures.push_back(std::move(made));
}

Figure contraction_figure(const Json& latents) {
  PointFigure figure{.title = "z-score and contraction",
                     .reading =
                         "Each point is a data set: to the right, how much the data have "
                         "narrowed the prior; upwards, how far the mean is from the truth "
                         "in standard deviations. Good ones lie to the right, around zero.",
                     .x = "contraction",
                     .y = "z-score"};
  constexpr std::size_t kMost = 8;
  for (const Json& latent : latents) {
    if (figure.groups.size() == kMost) break;
    if (!has_list(latent, "z_score")) continue;
    figure.groups.push_back({text_at(latent, "name"), numbers(latent.at("contraction")),
                             numbers(latent.at("z_score"))});
  }
  return point_figure(figure);
}

std::pair<double, double> ends_of(const Json& quantiles) {
  return {number_at(quantiles, "q05"), number_at(quantiles, "q95")};
}

// Sites: what was observed beside what was predicted.
Figure predicted_figure(const Json& sites) {
  BarFigure figure{.title = "Observed and predicted",
                   .reading =
                       "Lines reach from the 5 % to the 95 % quantile of what the posterior "
                       "predicts for a site, dots are its median and what was observed. "
                       "Observed dots far outside of their lines are not explained.",
                   .value = "value",
                   .points = true};
  constexpr std::size_t kMost = 30;
  for (const Json& site : sites) {
    if (figure.bars.size() >= 2 * kMost) break;
    if (!site.contains("predicted") || !site["predicted"].is_object()) continue;
    std::string name = text_at(site, "name");
    if (site.contains("component") && site["component"].is_number()) {
      name += "[" + text_at(site, "component") + "]";
    }
    figure.bars.push_back(
        {name, "predicted", number_at(site["predicted"], "q50"), ends_of(site["predicted"])});
    figure.bars.push_back({name, "observed", number_at(site, "value")});
  }
  return bar_figure(figure);
}

Figure surprise_figure(const Json& list, const char* title) {
  BarFigure figure{.title = title,
                   .reading =
                       "Surprise is minus the log of the density that the posterior "
                       "predicts. Lines are what is usual for data from the model: a dot to "
                       "the right of its line is too surprising, one to the left too little.",
                   .value = "surprise, nats",
                   .points = true};
  constexpr std::size_t kMost = 30;
  for (const Json& item : list) {
    if (figure.bars.size() == kMost) break;
    std::string name = text_at(item, "name");
    if (item.contains("component") && item["component"].is_number()) {
      name += "[" + text_at(item, "component") + "]";
    }
    Bar bar{name, item.value("blamed", false) ? "blamed" : "as usual", number_at(item, "surprise")};
    if (item.contains("usual_surprise") && item["usual_surprise"].is_object()) {
      bar.interval = ends_of(item["usual_surprise"]);
    }
    figure.bars.push_back(std::move(bar));
  }
  return bar_figure(figure);
}

Table sites_table(const Json& sites) {
  Table table{
      .caption = "Sites, the worst first",
      .head = {"address", "component", "value", "PIT", "surprise", "p-value", "q-value", "blamed"},
      .rows = {}};
  constexpr std::size_t kMost = 200;
  for (const Json& s : sites) {
    if (table.rows.size() == kMost) break;
    table.rows.push_back({text_at(s, "address"), text_at(s, "component"), text_at(s, "value"),
                          text_at(s, "pit"), text_at(s, "surprise"), text_at(s, "p_value"),
                          text_at(s, "q_value"), text_at(s, "blamed")});
  }
  return table;
}

}  // namespace

Part validation_part(const ResultFolder& folder) {
  const Json json = folder.json("summary.json");
  Part part = evidence(folder, json, "validation", "Validation");
  Section about = verdict(json, {{"surrogate", "surrogate"},
                                 {"traces", "traces"},
                                 {"unknown_mass", "mass on unknown"},
                                 {"unseen_traces", "traces with something unseen"},
                                 {"path_total_variation", "total variation of paths"}});
  add_object_facts(about, json, "kl", "KL: ");
  add_object_facts(about, json, "classifier", "classifier: ");
  add_object_facts(about, json, "speed", "speed: ");
  Section addresses{.title = "By address"};
  if (has_list(json, "addresses")) {
    const Json& list = json["addresses"];
    addresses.tables.push_back(addresses_table(list));
    add_curves(addresses, list, "address", "pit",
               {.title = "Probability integral transform",
                .reading = std::string(kBandReading) +
                           "A hump or a slope says that the surrogate's values there are too low, "
                           "too high, too wide or too narrow.",
                .x = "place in the surrogate's distribution",
                .y = "share of values up to there, minus it"});
    add_curves(addresses, list, "address", "density",
               {.title = "Density of vectors",
                .reading = kBandReading,
                .x = "rank of the density",
                .y = "share of values up to there, minus it"});
  }
  if (has_list(json, "transitions")) {
    addresses.figures.push_back(transition_bars(json["transitions"]));
  }
  part.sections = {std::move(about), std::move(addresses)};
  return part;
}

Part calibration_part(const ResultFolder& folder) {
  const Json json = folder.json("summary.json");
  Part part = evidence(folder, json, "calibration", "Calibration");
  Section about = verdict(json, {{"network", "network"},
                                 {"surrogate", "surrogate"},
                                 {"engine", "engine"},
                                 {"datasets", "data sets"},
                                 {"draws", "draws of each"},
                                 {"unreliable", "share with unreliable weights"}});
  Section latents{.title = "By latent"};
  if (has_list(json, "latents")) {
    const Json& list = json["latents"];
    add_curves(latents, list, "name", "ranks",
               {.title = "Ranks of the truth",
                .reading = std::string(kBandReading) +
                           "An S shape means posteriors that are too narrow or too wide, a hump "
                           "to one side posteriors that are shifted.",
                .x = "rank of the true value",
                .y = "share of data sets up to there, minus it"});
    add_curves(latents, list, "name", "coverage",
               {.title = "Coverage of central regions",
                .reading = std::string(kBandReading) +
                           "Below zero: regions that are said to hold the truth with that "
                           "probability hold it less often, the posterior is overconfident.",
                .x = "probability of the region",
                .y = "share that has the truth in it, minus it"});
    latents.figures.push_back(contraction_figure(list));
  }
  Section whole{.title = "All together"};
  if (json.contains("tarp") && json["tarp"].is_object()) {
    whole.figures.push_back(
        line_figure({.title = "Expected coverage by random points (TARP)",
                     .reading = std::string(kBandReading) +
                                "It looks at all latents at once. Below zero is overconfident.",
                     .x = "probability",
                     .y = "expected coverage, minus it",
                     .lines = {curve_line("all latents", json["tarp"])}}));
  }
  add_histogram(whole, json, "ess", "effective sample size", "least_ess");
  add_histogram(whole, json, "khat", "Pareto k-hat", "khat_threshold");
  part.sections.push_back(std::move(about));
  for (Section* section : {&latents, &whole}) {
    if (!section->figures.empty()) part.sections.push_back(std::move(*section));
  }
  return part;
}

Part criticism_part(const ResultFolder& folder) {
  const Json json = folder.json("summary.json");
  Part part = evidence(folder, json, "criticism", "Criticism");
  part.sections.push_back(verdict(json, {{"p_value", "p-value of the whole"},
                                         {"engine", "engine"},
                                         {"network", "network"},
                                         {"replicates", "data sets from the model"},
                                         {"draws", "draws of each"},
                                         {"ess", "effective sample size"},
                                         {"khat", "Pareto k-hat"}}));
  Section section{.title = "Which site is to blame"};
  if (has_list(json, "observations")) {
    section.figures.push_back(surprise_figure(json["observations"], "Surprise by observation"));
  }
  if (has_list(json, "sites")) {
    section.tables.push_back(sites_table(json["sites"]));
    section.figures.push_back(surprise_figure(json["sites"], "Surprise by site"));
    section.figures.push_back(predicted_figure(json["sites"]));
  }
  part.sections.push_back(std::move(section));
  return part;
}

}  // namespace psn::services
