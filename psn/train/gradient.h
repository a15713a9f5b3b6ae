// Gradient: the network forward over a whole batch of traces, and back through time.
//
// All traces of a batch go through the core together (Batch: no padding, no splitting by form).
// What depends on a node only - the address and type parts of the core's input - is projected once
// per node and batch and gathered. Layers that belong to a node work on all of its rows at once.
//
// With an inference network the heads are proposals, there are no transitions, and log s is the
// density of the latent choices under the proposals: log q.
//
// Buffers are kept from batch to batch. Not thread-safe; products run on the calling thread only.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "psn/nn/layer.h"
#include "psn/nn/network.h"
#include "psn/ranks/communicator.h"
#include "psn/train/batch.h"
#include "psn/train/observation_gradient.h"

namespace psn {

enum class Loss {
  kNegativeLogLikelihood,  // the paper's (Section 3)
  kDivergence,  // at values the closed-form KL divergence from the simulator's own distribution
};

struct BatchLoss {
  double loss = 0;      // what was differentiated; mean over traces
  double log_prob = 0;  // log s of a trace, in nats; mean
  double kl = 0;        // log p - log s, in nats per trace; mean
  // The choice to blame if the loss is bad: one whose part of it is not finite, or else the
  // largest.
  const Address* worst = nullptr;  // where it was made
  double worst_loss = 0;           // its part

  void add(const BatchLoss& other);  // of another part of the batch
};

class Gradient {
 public:
  explicit Gradient(Network& network);

  // The loss only. `log_prob`, if given, receives log s of each trace, in the order of the traces
  // that the batch was made of.
  BatchLoss evaluate(const Batch& batch, std::vector<double>* log_prob = nullptr);
  // The loss, with the gradient of its mean in Parameters::gradients. Blocks that have one are
  // touched(); the gradients of all others are zero.
  BatchLoss compute(const Batch& batch, Loss loss) { return compute(batch, loss, batch.traces()); }
  // The same of one part of a batch of `total` traces: what it adds to the means.
  BatchLoss compute(const Batch& batch, Loss loss, std::size_t total) {
    clear();
    return accumulate(batch, loss, total);
  }
  // The same in two steps, for a batch of several parts: the gradient of each is added.
  void clear();
  BatchLoss accumulate(const Batch& batch, Loss loss, std::size_t total);
  // Adds up gradient and loss over the parts of all ranks. `worst` stays that of this part.
  void add_up(Communicator& ranks, BatchLoss& loss);
  const std::vector<BlockId>& touched() const { return touched_; }

 private:
  void run_forward(const Batch& batch);
  void prepare(const Batch& batch);
  void embed_values(const Batch& batch);
  void project_nodes(const Batch& batch);
  // The inputs of the core at one step.
  void fill_core_inputs(const Batch& batch, std::size_t step);
  void add_tallies(const Batch& batch, std::size_t step);
  void back_through_tallies(const Batch& batch);
  void recall_values(const Batch& batch);
  void back_through_recall(const Batch& batch);
  void run_heads(const Batch& batch);
  // Loss of one choice for the outputs of its value layers, and its gradient if d is not null.
  HeadLoss value_loss(const Node& node, const Entry& entry, const float* outputs, float* d) const;
  void value_head(const Batch& batch, const Batch::NodeSegment& segment);
  // The same of a vector that is proposed component by component.
  void sequential_head(const Batch& batch, const Batch::NodeSegment& segment);
  void run_component(const Batch& batch, const Batch::NodeSegment& segment, std::size_t component);
  void back_through_components(const Batch::NodeSegment& segment);
  void back_through_layers(const Node& node, const Batch::NodeSegment& segment, std::size_t depth);
  void transition_head(const Batch& batch, const Batch::NodeSegment& segment);
  void begin_head(const Batch& batch);
  void back_through_nodes(const Batch& batch);
  void back_through_embeddings(const Batch& batch);
  void back_through_observations(const Batch& batch);
  void add_loss(double loss, const Entry* entry);
  void touch_once();
  BatchLoss total(const Batch& batch, std::vector<double>* log_prob) const;
  // Of a trace, in the means.
  double weight() const { return 1 / static_cast<double>(std::max<std::size_t>(1, traces_)); }

  // What value layers see: [core's output | context].
  std::size_t head_width() const { return network_.hidden() + network_.context(); }
  const float* context_of(const Batch& batch, std::size_t place) const {
    const std::uint32_t row = batch.order[place];
    if (network_.recalls()) return &context_[row * network_.context()];
    return &observed_[batch.position[row] * network_.observation_outputs() +
                      network_.core_inputs()];
  }

  void apply(LayerRows block, std::size_t rows, const float* in, std::size_t ld_in,
             float* out) const {
    apply_layer(network_.parameters(), block, rows, in, ld_in, out);
  }
  // Adds to the block's gradient; d_in (if not null) = d_out W of the first `d_columns` columns.
  void apply_back(LayerRows block, std::size_t rows, const float* in, std::size_t ld_in,
                  const float* d_out, float* d_in, std::size_t ld_d_in, std::size_t d_columns,
                  float beta);

  Network& network_;
  std::unique_ptr<CoreTape> core_;
  ObservationGradient observations_;
  bool backward_ = false;
  std::size_t traces_ = 0;  // that means are taken over
  Loss loss_ = Loss::kNegativeLogLikelihood;
  std::vector<BlockId> touched_;
  std::vector<float> message_;  // the gradients of touched blocks, one after the other

  std::vector<std::uint32_t> active_;  // by node: its place among this batch's nodes
  std::vector<NodeId> active_nodes_;
  std::vector<float> types_, addresses_;               // embeddings of active nodes
  std::vector<float> previous_table_, current_table_;  // their parts of the core's inputs
  // By position: the observations' part of them, and what goes past the core.
  std::vector<float> observed_;
  std::vector<float> head_input_, d_head_input_;  // rows by node: [h | context | value embedding]
  std::vector<float> last_input_;            // rows by node: [hidden | value] of the transition
  std::vector<std::size_t> last_offset_;     // of each segment in it
  std::vector<std::vector<float>> scratch_;  // activations of a segment's value layers
  std::vector<float> d_scratch_[2];
  // Of a vector's components, one after the other: rows of hidden, of outputs or their gradient,
  // and the components in units of the model.
  std::vector<std::vector<float>> hidden_, outputs_, followed_;
  // By row: what its value is recalled as, and what was recalled before it.
  std::vector<float> recalled_, context_;
  std::vector<float> tallied_;  // what was counted, of a segment's rows
  std::vector<double> log_s_;   // by position
  double loss_sum_ = 0, worst_loss_ = 0;
  const Address* worst_ = nullptr;
};

}  // namespace psn
