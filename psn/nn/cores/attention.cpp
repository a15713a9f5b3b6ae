// Causal self-attention, in layers (Vaswani et al. 2017): each step looks at all steps so far.
//
//   x = inputs + W value + position of the step
//   x += W what the heads find for normalized x;  x += W relu(W normalized x)    in each layer
//   output = normalized x
//
// Here: the core, and how it runs. Running traces keep the keys and values of their steps, so that
// no step is computed again. attention_tape.cpp has the training; both follow run_layers.
#include <fmt/format.h>

#include <algorithm>

#include "psn/nn/cores/attention.h"
#include "psn/nn/kernels.h"
#include "psn/nn/math.h"
#include "psn/nn/packed_matrix.h"

namespace psn {
namespace attention {
namespace {

using nn::PackedMatrix;

// The keys and values of one row's steps in one layer. Keys lie number by number, so that a query
// is compared with many of them at once.
class Cache {
 public:
  void clear() { steps_ = 0; }

  void append(std::size_t width, const float* key, const float* value) {
    if (steps_ == capacity_) grow(width);
    for (std::size_t i = 0; i < width; ++i) keys_[i * capacity_ + steps_] = key[i];
    std::copy_n(value, width, &values_[steps_ * width]);
    ++steps_;
  }

  // What one query finds, head by head.
  void attend(const Sizes& sizes, const float* query, std::vector<float>& weights,
              float* out) const {
    const std::size_t head = sizes.head(), all = sizes.all_heads();
    weights.resize(std::max(weights.size(), capacity_));
    std::fill_n(out, all, 0.0f);
    for (std::size_t first = 0; first < all; first += head) {
      std::fill_n(weights.begin(), steps_, 0.0f);
      for (std::size_t i = first; i < first + head; ++i) {
        kernels::add_scaled(steps_, sizes.scale() * query[i], &keys_[i * capacity_],
                            weights.data());
      }
      nn::softmax(steps_, weights.data());
      for (std::size_t t = 0; t < steps_; ++t) {
        kernels::add_scaled(head, weights[t], &values_[t * all + first], out + first);
      }
    }
  }

 private:
  void grow(std::size_t width) {
    const std::size_t capacity = std::max<std::size_t>(16, 2 * capacity_);
    std::vector<float> keys(width * capacity);
    for (std::size_t i = 0; i < width; ++i) {
      std::copy_n(keys_.data() + i * capacity_, steps_, &keys[i * capacity]);
    }
    keys_ = std::move(keys);
    values_.resize(width * capacity);
    capacity_ = capacity;
  }

  std::size_t steps_ = 0, capacity_ = 0;
  std::vector<float> keys_, values_;  // numbers x steps; steps x numbers
};

struct Weights {
  PackedMatrix input;
  std::vector<PackedMatrix> dense[kDense];  // by layer
};

class Rows : public CoreRows {
 public:
  Rows(const Sizes& sizes, const Weights& weights, std::size_t rows)
      : sizes_(sizes), weights_(weights) {
    resize(rows);
  }

  void resize(std::size_t rows) override {
    while (rows_.size() < rows) {
      rows_.push_back({0, std::vector<float>(sizes_.d), std::vector<Cache>(sizes_.depth)});
    }
  }
  void restart(Row row) override {
    rows_[row].steps = 0;
    for (Cache& cache : rows_[row].caches) cache.clear();
  }
  void copy(Row from, Row to) override { rows_[to] = rows_[from]; }
  const float* output(Row row) const override { return rows_[row].output.data(); }

  void step(const Step& step) override {
    step_ = &step;
    count_ = step.rows.size();
    const std::size_t e = sizes_.e;
    float* values = sized(values_, e);
    for (std::size_t i = 0; i < count_; ++i) {
      std::copy_n(step.embedded + step.rows[i] * e, e, values + i * e);
      add_position(sizes_.d, rows_[step.rows[i]].steps++, x(i));
    }
    weights_.input.add_to(count_, values, e, step.inputs, step.stride);
    run_layers(sizes_, *this);
  }

  // The parts of run_layers.
  void normalize_for_attention(std::size_t) { normalize_all(); }
  void normalize_for_feeding(std::size_t) { normalize_all(); }
  void ask(std::size_t layer) {
    const PackedMatrix& matrix = weights_.dense[kQueries][layer];
    matrix.apply(count_, normal_.data(), sizes_.d, sized(queries_, matrix.padded()),
                 matrix.padded());
  }
  void attend(std::size_t layer) {
    const std::size_t all = sizes_.all_heads(), ld = PackedMatrix::padded(3 * all);
    float* found = sized(found_, all);
    for (std::size_t i = 0; i < count_; ++i) {
      const float* query = &queries_[i * ld];
      Cache& cache = rows_[step_->rows[i]].caches[layer];
      cache.append(all, query + all, query + 2 * all);
      cache.attend(sizes_, query, attention_, found + i * all);
    }
  }
  void add_found(std::size_t layer) {
    add(weights_.dense[kFound][layer], found_.data(), sizes_.all_heads());
  }
  void hide(std::size_t layer) {
    const PackedMatrix& matrix = weights_.dense[kHidden][layer];
    matrix.apply_relu(count_, normal_.data(), sizes_.d, sized(hidden_, matrix.padded()),
                      matrix.padded());
  }
  void add_fed(std::size_t layer) {
    add(weights_.dense[kFed][layer], hidden_.data(), PackedMatrix::padded(sizes_.hidden()));
  }
  void finish() {
    for (std::size_t i = 0; i < count_; ++i) {
      normalize(sizes_.d, x(i), rows_[step_->rows[i]].output.data());
    }
  }

 private:
  struct RowState {
    std::size_t steps;
    std::vector<float> output;
    std::vector<Cache> caches;  // by layer
  };

  float* x(std::size_t i) { return step_->inputs + i * step_->stride; }
  // Room for rows of this width.
  float* sized(std::vector<float>& buffer, std::size_t width) const {
    kernels::reserve(buffer, count_ * width);
    return buffer.data();
  }
  void normalize_all() {
    float* normal = sized(normal_, sizes_.d);
    for (std::size_t i = 0; i < count_; ++i) normalize(sizes_.d, x(i), normal + i * sizes_.d);
  }
  void add(const PackedMatrix& matrix, const float* in, std::size_t ld) {
    const std::size_t width = matrix.padded();
    float* change = sized(change_, width);
    matrix.apply(count_, in, ld, change, width);
    for (std::size_t i = 0; i < count_; ++i) kernels::add(sizes_.d, change + i * width, x(i));
  }

  const Sizes sizes_;
  const Weights& weights_;
  std::vector<RowState> rows_;
  const Step* step_ = nullptr;  // the one under way
  std::size_t count_ = 0;       // its rows
  std::vector<float> values_, normal_, queries_, attention_, found_, hidden_, change_;
};

class Compiled : public CompiledCore {
 public:
  Compiled(const Sizes& sizes, const Parameters& p) : sizes_(sizes) {
    weights_.input = PackedMatrix(sizes.d, sizes.e, p.values(kInput), sizes.e);
    for (std::size_t layer = 0; layer < sizes.depth; ++layer) {
      for (BlockId which = 0; which < kDense; ++which) {
        const BlockId id = block_of(layer, static_cast<Dense>(which));
        weights_.dense[which].push_back(
            PackedMatrix::with_bias(p.block(id).rows, p.block(id).columns, p.values(id)));
      }
    }
  }
  std::unique_ptr<CoreRows> rows(std::size_t count) const override {
    return std::make_unique<Rows>(sizes_, weights_, count);
  }

 private:
  Sizes sizes_;
  Weights weights_;
};

class Attention : public Core {
 public:
  explicit Attention(const Sizes& sizes) : sizes_(sizes) {}

  std::size_t inputs() const override { return sizes_.d; }
  std::size_t outputs() const override { return sizes_.d; }
  BlockId input_bias() const override { return kBias; }

  std::vector<CoreBlock> blocks() const override {
    const std::size_t d = sizes_.d, all = sizes_.all_heads(), hidden = sizes_.hidden();
    std::vector<CoreBlock> blocks{{"bias", d, 1, d}, {"input", d, sizes_.e, sizes_.e}};
    for (std::size_t l = 0; l < sizes_.depth; ++l) {
      blocks.push_back({fmt::format("{}.queries", l), 3 * all, d + 1, d});
      blocks.push_back({fmt::format("{}.found", l), d, all + 1, all});
      blocks.push_back({fmt::format("{}.hidden", l), hidden, d + 1, d});
      blocks.push_back({fmt::format("{}.fed", l), d, hidden + 1, hidden});
    }
    return blocks;
  }

  std::size_t numbers_of_row() const override {
    const std::size_t layer = 2 * sizes_.d + 4 * sizes_.all_heads() + sizes_.hidden() + 2;
    return (sizes_.depth + 1) * layer + 5 * sizes_.d + 2 * sizes_.e;
  }
  std::unique_ptr<CompiledCore> compile(const Parameters& parameters) const override {
    return std::make_unique<Compiled>(sizes_, parameters);
  }
  std::unique_ptr<CoreTape> tape() const override { return attention::tape(sizes_); }

 private:
  Sizes sizes_;
};

}  // namespace
}  // namespace attention

std::shared_ptr<const Core> attention_core(const NetworkConfig& config) {
  return std::make_shared<attention::Attention>(attention::Sizes{
      config.core_dim, config.sample_embedding_dim, config.core_depth, config.attention_heads});
}

}  // namespace psn
