#include "psn/report/figures/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "psn/report/figures/layout.h"
#include "psn/report/page.h"

namespace psn {
namespace {

using Edge = GraphFigure::Edge;

constexpr std::size_t kLargeGraph = 250;  // nodes, from which on dot takes too long
constexpr double kClearDifference = 3;    // standard errors, from which on it is coloured

// What stands in the layout for what differs from side to side: of the width of a probability.
std::string key_of(std::size_t edge) {
  return fmt::format("@{:05}", edge);
}

std::string quoted_for_dot(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string dot_text(const std::vector<Edge>& edges, bool large) {
  std::string dot =
      "digraph {\n  bgcolor=transparent; rankdir=TB; nodesep=0.25; ranksep=0.35;\n"
      "  node [shape=box, style=rounded, fontname=\"DejaVu Sans\", fontsize=11, height=0.3];\n"
      "  edge [fontname=\"DejaVu Sans\", fontsize=9, arrowsize=0.6];\n";
  if (large) dot += "  overlap=scale; splines=line; K=0.6; node [shape=point, width=0.15];\n";
  for (std::size_t e = 0; e < edges.size(); ++e) {
    dot += fmt::format("  {} -> {} [class=\"{}\"{}];\n", quoted_for_dot(edges[e].from),
                       quoted_for_dot(edges[e].to), key_of(e),
                       large ? "" : fmt::format(", label=\"{}\"", key_of(e)));
  }
  return dot + "}\n";
}

// How an edge looks on a side: how thick, and whether it is more or less than on the first.
std::string edge_classes(const Edge& edge, std::size_t side) {
  const double p = edge.probability[side];
  if (!(p > 0)) return "absent";
  std::string classes = fmt::format("w{}", static_cast<int>(std::ceil(5 * std::min(1.0, p))));
  if (side == 0) return classes;
  const double difference = p - edge.probability[0];
  const double noise = std::max(edge.standard_error, 0.002);
  if (std::abs(difference) < kClearDifference * noise) return classes;
  return classes + (difference > 0 ? " more" : " less");
}

// The drawing for one side: keys replaced by what they stand for there.
std::string side_drawing(const std::string& svg, const std::vector<Edge>& edges, std::size_t side) {
  std::string result;
  std::size_t done = 0;
  for (auto at = svg.find('@'); at != svg.npos; at = svg.find('@', at + 1)) {
    const std::string digits = svg.substr(at + 1, 5);
    // An address may have such a sign too, but not there.
    if (at == 0 || std::string_view(">\" ").find(svg[at - 1]) == std::string_view::npos) continue;
    if (digits.size() < 5 || digits.find_first_not_of("0123456789") != digits.npos) continue;
    const std::size_t e = std::stoul(digits);
    if (e >= edges.size()) continue;
    result.append(svg, done, at - done);
    const bool label = at > 0 && svg[at - 1] == '>';
    result +=
        label ? fmt::format("{:.3f}", edges[e].probability[side]) : edge_classes(edges[e], side);
    done = at + 6;
  }
  return result.append(svg, done);
}

Table edge_table(const std::vector<Edge>& edges, const GraphFigure& figure) {
  Table table{.caption = figure.title, .head = {"from", "to"}, .rows = {}};
  for (const std::string& side : figure.sides) table.head.push_back(side);
  for (const Edge& edge : edges) {
    std::vector<std::string> row{edge.from, edge.to};
    for (const double p : edge.probability) row.push_back(fmt::format("{:.4f}", p));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string graph_reading(const GraphFigure& figure, bool large) {
  std::string text =
      "Boxes are the random choices of the program; an arrow leads to the choice that comes next, "
      "with the probability of that. ";
  if (large) text = "Dots are the random choices; a line leads to the choice that comes next. ";
  text += figure.sides.size() > 1
              ? "The second drawing has its arrows in red where it goes there more often than the "
                "first and in blue where less often, beyond three standard errors."
              : "Thick arrows are taken nearly always.";
  return text;
}

}  // namespace

Figure graph_figure(const GraphFigure& figure) {
  std::vector<Edge> edges;
  std::set<std::string> nodes;
  for (const Edge& edge : figure.edges) {
    if (*std::max_element(edge.probability.begin(), edge.probability.end()) <
        figure.min_probability) {
      continue;
    }
    edges.push_back(edge);
    nodes.insert(edge.from);
    nodes.insert(edge.to);
  }
  const bool large = nodes.size() > kLargeGraph;
  const std::string svg = laid_out(dot_text(edges, large), large ? "sfdp" : "dot");
  std::string html = "<div class=\"sides\">";
  for (std::size_t side = 0; side < figure.sides.size(); ++side) {
    html += fmt::format(
        "<div><h5>{0}</h5><div class=\"graph\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Transitions of the {0}\">{1}</div></div>",
        escaped_html(figure.sides[side]), side_drawing(svg, edges, side));
  }
  return {.name = figure_name(figure.title),
          .title = figure.title,
          .reading = graph_reading(figure, large),
          .form = Figure::Form::kDrawing,
          .content = html + "</div>",
          .data = edge_table(edges, figure),
          .wide = true};
}

}  // namespace psn
