// Core: what carries a trace's past from step to step; the only part of a network that sees more
// than one step.
//
// At each step it takes inputs() numbers - the sum of all that nodes, counts and observations are
// projected to - and the embedding of the last value, and gives outputs() numbers to the heads.
//
// A core is made of the configuration alone and holds no weights. Its blocks are the first ones of
// a network's parameters, in the order of blocks(), so copies of a network share it. Immutable.
//
// It runs in two forms: CoreRows goes on step by step, as running traces do; CoreTape takes whole
// batches, and goes back. Both stand in one file for each core, and tests/law holds them together.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "psn/nn/config.h"
#include "psn/nn/parameters.h"

namespace psn {

// Traces in flight: one row each. Not thread-safe.
class CoreRows {
 public:
  using Row = std::uint32_t;
  virtual ~CoreRows() = default;

  // There are so many rows from then on; never fewer than before.
  virtual void resize(std::size_t rows) = 0;
  // As before the first step.
  virtual void restart(Row row) = 0;
  virtual void copy(Row from, Row to) = 0;

  // One step of some rows, all different.
  struct Step {
    std::span<const Row> rows;
    float* inputs;          // of the i-th at i * stride; overwritten
    std::size_t stride;     // PackedMatrix::row_stride(inputs())
    const float* embedded;  // the last value, of row r at r * its length; zeros at first
  };
  virtual void step(const Step& step) = 0;
  // Of the row's last step.
  virtual const float* output(Row row) const = 0;
};

// Weights laid out for running. Immutable: several threads share one, which outlives its rows.
class CompiledCore {
 public:
  virtual ~CompiledCore() = default;
  virtual std::unique_ptr<CoreRows> rows(std::size_t count) const = 0;
};

// A batch of traces, longest first: row(step, position) = first[step] + position, and the step
// before it is row(step - 1, position). Buffers are kept from batch to batch. Not thread-safe.
class CoreTape {
 public:
  // `embedding`: numbers of a value's.
  explicit CoreTape(std::size_t embedding) : embedding_(embedding) {}
  virtual ~CoreTape() = default;

  // `first`: by step, its first row; one more at the end. It must outlive the batch.
  virtual void start(std::span<const std::uint32_t> first) = 0;
  // Rows of inputs() numbers: written by `fill` during forward(). After back(): their gradients.
  virtual float* inputs() = 0;
  // The last value's embedding, to be written before forward() but for rows of the first step; and
  // its gradient, after back().
  virtual float* embedded(std::size_t row) = 0;
  const float* d_embedded(std::size_t row) const { return &d_embedded_[row * embedding_]; }
  // Calls fill(step) once for each step, in turn.
  using Fill = std::function<void(std::size_t)>;
  virtual void forward(const Parameters& parameters, const Fill& fill) = 0;
  virtual const float* output(std::size_t row) const = 0;
  virtual float* d_output(std::size_t row) = 0;
  // From d_output of all rows, which it overwrites. Adds to the gradients of all blocks but the
  // bias of the inputs, and all blocks to `touched`.
  virtual void back(Parameters& parameters, std::vector<BlockId>& touched) = 0;

 protected:
  std::vector<float> d_embedded_;  // rows x embedding

 private:
  std::size_t embedding_;
};

// A block of parameters, and how it starts.
struct CoreBlock {
  std::string name;  // in files, after "core."
  std::size_t rows, columns;
  std::size_t fan_in = 0;                        // uniform within +-1 / sqrt(fan_in); 0: zeros
  std::size_t raised_begin = 0, raised_end = 0;  // rows that start higher by one
};

class Core {
 public:
  virtual ~Core() = default;

  virtual std::size_t inputs() const = 0;
  virtual std::size_t outputs() const = 0;
  virtual std::vector<CoreBlock> blocks() const = 0;
  // inputs() x 1, a part of the inputs at every step: the network adds it once for each node.
  virtual BlockId input_bias() const = 0;
  // That a tape keeps of one row, about.
  virtual std::size_t numbers_of_row() const = 0;
  virtual std::unique_ptr<CompiledCore> compile(const Parameters& parameters) const = 0;
  virtual std::unique_ptr<CoreTape> tape() const = 0;
};

// That of the configuration, whose `core` must be one of core_names().
std::shared_ptr<const Core> make_core(const NetworkConfig& config);
std::span<const std::string_view> core_names();

}  // namespace psn
