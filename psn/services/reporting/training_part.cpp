#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "psn/report/figures/lines.h"
#include "psn/services/inspect.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {
namespace {

constexpr std::size_t kMostPoints = 400;

const std::string kLossReading =
    "Lower is better; it falls fast at first and then levels off. A line of held-out traces that "
    "rises while that of training falls means that the network remembers traces instead of "
    "learning the law.";

bool has_number(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

// Means over a window of what jumps from batch to batch.
std::vector<double> smoothed(const std::vector<double>& values) {
  const std::size_t half = values.size() / 100;
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double sum = 0, count = 0;
    for (std::size_t j = i < half ? 0 : i - half; j <= std::min(values.size() - 1, i + half); ++j) {
      if (!std::isfinite(values[j])) continue;
      sum += values[j];
      ++count;
    }
    result[i] = sum / count;
  }
  return result;
}

// The points that a line has; what is empty in a row is left out.
Line known_points(const std::string& name, const std::vector<double>& x,
                  const std::vector<double>& y) {
  Line line{.name = name, .x = {}, .y = {}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(y[i])) continue;
    line.x.push_back(x[i]);
    line.y.push_back(y[i]);
  }
  return thinned(std::move(line), kMostPoints);
}

struct Quantity {
  const char *column, *held_out;  // `held_out` may be null
  const char *title, *axis;
  bool logarithmic;
};
constexpr Quantity kQuantities[]{
    {"kl", "validation/kl", "KL from the simulator", "nats per trace", true},
    {"kl_nats_per_trace", nullptr, "KL from the simulator", "nats per trace", true},
    {"loss", "validation/loss", "Loss", "nats per trace", false},
    {"valid_strict", nullptr, "Valid programs", "share", false},
    {"addresses", "transitions", "Vocabulary", "number", false},
    {"learning_rate", nullptr, "Learning rate", "", true},
    {"traces_per_second", nullptr, "Speed", "traces per second", false}};

std::string reading_of(const Quantity& quantity) {
  const std::string column = quantity.column;
  if (column == "addresses") {
    return "How many addresses and transitions of the program the network knows. What still grows "
           "at the end is not all known: more traces would show more.";
  }
  if (column == "learning_rate") {
    return "How far each update moves the parameters. It falls so that the network settles.";
  }
  if (column == "traces_per_second") {
    return "How many traces were made and learned from in a second. It may fall while the network "
           "grows.";
  }
  if (column == "valid_strict") {
    return "The share of the programs that the surrogate writes that are correct. One is perfect.";
  }
  return kLossReading;
}

}  // namespace

std::vector<Figure> learning_figures(const Columns& curve, const std::string& of) {
  std::vector<Figure> figures;
  const std::vector<double> traces = curve.numbers("traces");
  for (const Quantity& quantity : kQuantities) {
    if (!curve.has(quantity.column)) continue;
    const auto values = curve.numbers(quantity.column);
    if (!has_number(values)) continue;
    const bool vocabulary = std::string(quantity.column) == "addresses";
    LineFigure figure{.title = of.empty() ? quantity.title : of + ": " + quantity.title,
                      .reading = reading_of(quantity),
                      .x = "traces",
                      .y = quantity.axis,
                      .log_y = quantity.logarithmic};
    figure.lines.push_back(known_points(vocabulary ? "addresses" : "training", traces,
                                        vocabulary ? values : smoothed(values)));
    if (quantity.held_out && curve.has(quantity.held_out)) {
      const auto held_out = curve.numbers(quantity.held_out);
      if (has_number(held_out)) {
        figure.lines.push_back(
            known_points(vocabulary ? "transitions" : "held out", traces, held_out));
        figure.marks = held_out.size() < 60;
      }
    }
    if (figure.lines.front().x.size() > 1) figures.push_back(line_figure(figure));
  }
  return figures;
}

Part training_part(const ResultFolder& folder) {
  const Columns log = folder.columns("progress.csv");
  Part part{.kind = "training", .title = "Training", .path = folder.path()};
  Section section{.title = "Learning curves"};
  for (const auto& [column, name] :
       {std::pair("traces", "traces"), std::pair("updates", "updates"),
        std::pair("seconds", "seconds"), std::pair("addresses", "addresses"),
        std::pair("transitions", "transitions")}) {
    if (log.has(column) && log.rows() > 0) {
      section.facts.emplace_back(name, shown(log.numbers(column).back()));
    }
  }
  section.figures = learning_figures(log, "");
  part.sections.push_back(std::move(section));
  return part;
}

namespace {

// The history of a network's file in the form of a log.
Columns history_columns(const Json& history) {
  Columns curve;
  curve.names = {"traces",          "kl",        "validation/kl", "loss",
                 "validation/loss", "addresses", "transitions",   "learning_rate"};
  curve.cells.resize(curve.names.size());
  const auto cell = [](const Json& json, const char* key) {
    const double x = number_at(json, key);
    return std::isnan(x) ? "" : fmt::format("{}", x);
  };
  for (const Json& report : history) {
    const Json held_out = report.value("validation", Json::object());
    const std::string cells[]{cell(report, "traces"),
                              cell(report, "kl_nats_per_trace"),
                              cell(held_out, "kl_nats_per_trace"),
                              cell(report, "loss"),
                              cell(held_out, "loss"),
                              cell(report, "addresses"),
                              cell(report, "transitions"),
                              cell(report, "learning_rate")};
    for (std::size_t i = 0; i < curve.cells.size(); ++i) curve.cells[i].push_back(cells[i]);
  }
  return curve;
}

Table nodes_table(const InspectedNetwork& network) {
  Table table{.caption = "What it has learned",
              .head = {"address", "distribution", "followed by"},
              .rows = {}};
  constexpr std::size_t kMost = 300;
  for (const InspectedNode& node : network.nodes) {
    if (table.rows.size() == kMost) break;
    std::string next;
    for (const InspectedTransition& transition : node.successors) {
      if (next.size() > 160) {
        next += ", ...";
        break;
      }
      next += (next.empty() ? "" : ", ") + network.nodes[transition.node].name;
    }
    table.rows.push_back(
        {node.address, node.family.empty() ? "-" : node.family, next.empty() ? "-" : next});
  }
  if (network.nodes.size() > kMost) table.caption += fmt::format(" (the first {})", kMost);
  return table;
}

}  // namespace

Part network_part(const std::string& file) {
  const InspectedNetwork network = inspect(file);
  Part part{.kind = "training",
            .title = "Network: " + std::filesystem::path(file).filename().string(),
            .path = file};
  Section section{.title = "Learning curves"};
  const Json history = Json::parse(network.history.empty() ? "[]" : network.history);
  section.facts = {{"parameters", fmt::format("{}", network.parameters)},
                   {"updates", fmt::format("{}", network.updates)},
                   {"addresses", fmt::format("{}", network.nodes.size())},
                   {"transitions", fmt::format("{}", network.transitions)},
                   {"seed", fmt::format("{}", network.seed)}};
  if (!history.empty()) {
    section.facts.emplace_back("traces", text_at(history.back(), "traces"));
    const Json held_out = history.back().value("validation", Json::object());
    for (const auto& fact : facts_of(held_out, {{"kl_nats_per_trace", "KL, held out"},
                                                {"kl_standard_error", "its standard error"},
                                                {"loss", "loss, held out"},
                                                {"prior_loss", "the prior's loss"},
                                                {"linear_loss", "linear regressions' loss"}})) {
      section.facts.push_back(fact);
    }
    section.figures = learning_figures(history_columns(history), "");
  }
  part.sections.push_back(std::move(section));
  part.sections.push_back({.title = "Addresses", .tables = {nodes_table(network)}});
  return part;
}

}  // namespace psn::services
