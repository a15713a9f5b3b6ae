#include "psn/report/transitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
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

std::vector<TransitionGraph::Edge> TransitionGraph::edges() const {
  std::unordered_map<std::string_view, std::uint64_t> totals;
  for (const auto& [from, successors] : counts_) {
    for (const auto& [to, count] : successors) totals[*from] += count;
  }
  // Departures of the start come first, then those of what is left most often.
  using Ranked = std::pair<std::uint64_t, Edge>;
  std::vector<Ranked> ranked;
  for (const auto& [from, successors] : counts_) {
    const std::uint64_t total = totals[*from];
    for (const auto& [to, count] : successors) {
      ranked.push_back(
          {*from == kBegin ? ~std::uint64_t{0} : total,
           {*from, *to, count, static_cast<double>(count) / static_cast<double>(total)}});
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    const auto key = [](const Ranked& r, const Ranked& other) {
      return std::tie(other.first, r.second.from, other.second.count, r.second.to);
    };
    return key(a, b) < key(b, a);
  });
  std::vector<Edge> edges;
  for (Ranked& r : ranked) edges.push_back(std::move(r.second));
  return edges;
}

std::string TransitionGraph::to_dot(double min_probability) const {
  std::string dot = "digraph transitions {\n  rankdir=LR;\n  node [shape=box, fontsize=10];\n";
  for (const std::string& boundary : {kBegin, kEnd}) {
    dot += fmt::format("  {} [shape=ellipse];\n", quoted(boundary));
  }
  for (const Edge& edge : edges()) {
    if (edge.probability < min_probability) continue;
    dot += fmt::format("  {} -> {} [label=\"{:.3f}\", penwidth={:.2f}];\n", quoted(edge.from),
                       quoted(edge.to), edge.probability, 0.3 + 2.2 * edge.probability);
  }
  return dot + "}\n";
}

std::string TransitionGraph::to_json() const {
  nlohmann::ordered_json json;
  json["traces"] = traces_;
  auto& list = json["transitions"] = nlohmann::ordered_json::array();
  for (const Edge& edge : edges()) {
    list.push_back({{"from", edge.from},
                    {"to", edge.to},
                    {"count", edge.count},
                    {"probability", edge.probability}});
  }
  return json.dump(2);
}

}  // namespace psn
