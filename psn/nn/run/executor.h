// Executor: the network run forward, many rows at a time (the paper's Section 3, Appendix C).
//
// A row is one trace in flight. Each step of a row has two halves, in turn:
//   transition  the value just drawn -> logits over the next node
//   step        the next node -> the core moves on -> outputs of that node's head
// An inference network has only the second half, with the observations' part of the core's
// inputs given once: take() tells it the value that was drawn.
// Rows are grouped by node, so that every layer is one product over neighbouring rows, and taken in
// chunks that stay in the cache. What a row computes does not depend, to the bit, on which other
// rows there are.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "psn/nn/run/compiled_network.h"
#include "psn/nn/run/recalled.h"

namespace psn {

// Not thread-safe: each thread has its own.
class Executor {
 public:
  using Row = CoreRows::Row;

  Executor(std::shared_ptr<const CompiledNetwork> network, std::size_t rows);

  // Of an inference network: what observation_inputs() made of the observations.
  void set_observed(std::vector<float> inputs);

  // Puts a row at `begin`; there are rows up to it from then on.
  void restart(Row row);
  // `to` goes on as `from` would.
  void copy(Row from, Row to);
  NodeId node(Row row) const { return nodes_[row]; }

  // Takes the value drawn at each row's node (ignored at begin) and calls visit(i, logits) for each
  // request: logits[0] is unknown, logits[1 + s] successor s.
  struct Drawn {
    Row row;
    const Value* value;
  };
  void take(std::span<const Drawn> drawn);
  using VisitLogits = std::function<void(std::size_t, std::span<const float>)>;
  void transition(std::span<const Drawn> drawn, const VisitLogits& visit);

  // Moves each row to its next node and calls visit(i, outputs) for each request, with the raw
  // outputs of the node's head.
  struct Next {
    Row row;
    NodeId node;
    const Address* address;
  };
  using VisitOutputs = std::function<void(std::size_t, const float*)>;
  // Of a vector that is proposed component by component: visit(i, component, outputs) returns the
  // component that was chosen, in units of the model.
  using VisitComponent = std::function<float(std::size_t, std::size_t, const float*)>;
  void step(std::span<const Next> next, const VisitOutputs& visit,
            const VisitComponent& visit_component = nullptr);

 private:
  static constexpr std::size_t kChunk = 256;  // rows at a time

  // Requests sorted by node: order_ lists them, and segments of it share a node.
  struct NodeSegment {
    NodeId node;
    std::size_t first, count;  // in order_
  };
  template <class NodeOf>
  void group(std::size_t count, NodeOf node_of);
  void move_core(std::span<const Next> next, std::size_t first, std::size_t count);
  void value_heads(const NodeSegment& segment, std::size_t first, const VisitOutputs& visit);
  // Runs value layers over the rows of a segment, the last one without ReLU; returns their outputs
  // and how far apart these are.
  struct Rows {
    float* data;
    std::size_t stride;
  };
  Rows run_layers(const std::vector<nn::PackedMatrix>& layers, const NodeSegment& segment,
                  std::size_t first);
  void sequential_heads(const NodeSegment& segment, std::size_t first, const VisitComponent& visit);
  // Embeds the values of a segment, and recalls them from now on: leaves [h | what was recalled
  // before | embedding] in input_ and returns its row length.
  std::size_t embed(std::span<const Drawn> drawn, const NodeSegment& segment);
  void transition_heads(std::span<const Drawn> drawn, const NodeSegment& segment,
                        const VisitLogits& visit);

  // What was counted of the rows that `row_of` names, one after the other in tallied_.
  template <class RowOf>
  void gather_tallies(std::size_t count, RowOf row_of);
  void recall(std::span<const Drawn> drawn, const NodeSegment& segment);

  float* embedded(Row row) { return embedded_.data() + row * e_; }

  std::shared_ptr<const CompiledNetwork> compiled_;
  const Network& network_;
  std::size_t h_, c_, e_;  // c_: numbers beside the core's output

  // State of each row.
  std::vector<NodeId> nodes_;
  std::unique_ptr<CoreRows> core_;
  std::vector<float> embedded_;  // rows x e: the last value's embedding
  std::vector<float> observed_;  // part of the core's inputs; empty: none
  std::vector<float> context_;   // what goes past the core; empty: what is recalled, if anything
  Recalled recalled_;
  std::size_t tally_inputs_;  // 0: nothing is counted
  std::vector<Tally> tallies_;

  // Work space.
  std::vector<std::uint32_t> order_, places_;
  std::vector<NodeSegment> segments_;
  std::vector<Row> rows_;  // of a chunk
  std::vector<float> input_, core_inputs_, top_, first_, second_, third_, represented_, tallied_;
};

}  // namespace psn
