#include "psn/report/transitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace psn {
namespace {

const std::string kBegin = "begin-execution";
const std::string kEnd = "end-execution";

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

const std::string* TransitionGraph::node(const Address& address) const {
  return nodes_ == Nodes::kAddresses ? &address.text : &address.variable->site->text;
}

void TransitionGraph::add(const Trace& trace) {
  const std::string* from = &kBegin;
  for (const Entry& entry : trace.entries) {
    if (entry.role != Role::kSample && entry.role != Role::kObserve) continue;
    const std::string* to = node(*entry.address);
    ++counts_[from][to];
    from = to;
  }
  ++counts_[from][&kEnd];
  ++traces_;
}

std::vector<TransitionGraph::Edge> TransitionGraph::unsorted_edges() const {
  std::unordered_map<std::string_view, std::uint64_t> totals;
  for (const auto& [from, successors] : counts_) {
    for (const auto& [to, count] : successors) totals[*from] += count;
  }
  std::vector<Edge> edges;
  for (const auto& [from, successors] : counts_) {
    const std::uint64_t departures = totals[*from];
    for (const auto& [to, count] : successors) {
      edges.push_back({*from, *to, count, departures,
                       static_cast<double>(count) / static_cast<double>(departures)});
    }
  }
  return edges;
}

std::vector<TransitionGraph::Edge> TransitionGraph::edges() const {
  std::vector<Edge> edges = unsorted_edges();
  const auto rank = [](const Edge& edge) {
    return edge.from == kBegin ? ~std::uint64_t{0} : edge.departures;
  };
  std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
    const std::uint64_t first = rank(a), second = rank(b);
    return std::tie(second, a.from, b.count, a.to) < std::tie(first, b.from, a.count, b.to);
  });
  return edges;
}

std::string TransitionGraph::to_dot(double min_probability) const {
  return psn::to_dot(edges(), min_probability);
}

std::string to_dot(const std::vector<TransitionGraph::Edge>& edges, double min_probability) {
  std::string dot = "digraph transitions {\n  rankdir=LR;\n  node [shape=box, fontsize=10];\n";
  for (const std::string& boundary : {kBegin, kEnd}) {
    dot += fmt::format("  {} [shape=ellipse];\n", quoted(boundary));
  }
  for (const TransitionGraph::Edge& edge : edges) {
    if (edge.probability < min_probability) continue;
    dot += fmt::format("  {} -> {} [label=\"{:.3f}\", penwidth={:.2f}];\n", quoted(edge.from),
                       quoted(edge.to), edge.probability, 0.3 + 2.2 * edge.probability);
  }
  return dot + "}\n";
}

}  // namespace psn
