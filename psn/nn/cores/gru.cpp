// Gated recurrent units, in layers (Cho et al. 2014; the reset gate acts on the product, as in most
// libraries):
//   r, z = sigmoid(a_rz + b_rz)   n = tanh(a_n + r b_n)   h = n + z (h_before - n)
// where a is the part of the input and b that of the state before. The core's inputs are the first
// layer's a, but for the last value.
#include <fmt/format.h>

#include <algorithm>

#include "psn/base/vectorize.h"
#include "psn/nn/cores/core.h"
#include "psn/nn/kernels.h"
#include "psn/nn/layer.h"
#include "psn/nn/math.h"
#include "psn/nn/packed_matrix.h"

namespace psn {
namespace {

using nn::PackedMatrix;

struct GruSizes {
  std::size_t h, e, depth;
  std::size_t gates() const { return 3 * h; }
  std::size_t below(std::size_t layer) const { return layer == 0 ? e : h; }
  static BlockId input(std::size_t layer) { return static_cast<BlockId>(3 * layer); }
  static BlockId bias(std::size_t layer) { return static_cast<BlockId>(3 * layer + 1); }
  static BlockId recurrent(std::size_t layer) { return static_cast<BlockId>(3 * layer + 2); }
};

// One row. `a` receives the activations.
void gru_gates(std::size_t h, float* a, const float* b, const float* before, float* after) {
  for (std::size_t j = 0; j < 2 * h; ++j) a[j] += b[j];
  nn::sigmoid(2 * h, a);
  const float *r = a, *z = a + h;
  float* n = a + 2 * h;
  for (std::size_t j = 0; j < h; ++j) n[j] += r[j] * b[2 * h + j];
  nn::hyperbolic_tangent(h, n);
  for (std::size_t j = 0; j < h; ++j) after[j] = n[j] + z[j] * (before[j] - n[j]);
}

// And back: a and b receive their gradients. d_after becomes the part of d_before that goes past
// the gates.
PSN_VECTORIZE void gru_gates_back(std::size_t h, float* __restrict a, float* __restrict b,
                                  const float* __restrict before, float* __restrict d_after) {
  for (std::size_t j = 0; j < h; ++j) {
    const float r = a[j], z = a[h + j], n = a[2 * h + j], d = d_after[j];
    const float d_n = d * (1 - z) * (1 - n * n);
    const float d_r = d_n * b[2 * h + j] * r * (1 - r);
    const float d_z = d * (before[j] - n) * z * (1 - z);
    a[j] = b[j] = d_r;
    a[h + j] = b[h + j] = d_z;
    a[2 * h + j] = d_n;
    b[2 * h + j] = d_n * r;
    d_after[j] = d * z;
  }
}

struct GruWeights {
  std::vector<PackedMatrix> input, recurrent;
  std::vector<std::vector<float>> bias;
};

class GruRows : public CoreRows {
 public:
  GruRows(const GruSizes& sizes, const GruWeights& weights, std::size_t rows)
      : sizes_(sizes), weights_(weights), hidden_(sizes.depth) {
    resize(rows);
  }

  void resize(std::size_t rows) override {
    for (auto& layer : hidden_) layer.resize(rows * sizes_.h);
  }
  void restart(Row row) override {
    for (auto& layer : hidden_) std::fill_n(&layer[row * sizes_.h], sizes_.h, 0.0f);
  }
  void copy(Row from, Row to) override {
    for (auto& layer : hidden_)
      std::copy_n(&layer[from * sizes_.h], sizes_.h, &layer[to * sizes_.h]);
  }
  const float* output(Row row) const override { return &hidden_.back()[row * sizes_.h]; }

  void step(const Step& step) override {
    const std::size_t h = sizes_.h, count = step.rows.size(), stride = step.stride;
    const std::size_t before_stride = PackedMatrix::row_stride(h);
    before_.resize(std::max(before_.size(), count * before_stride));
    below_.resize(std::max(below_.size(), count * std::max(h, sizes_.e)));
    b_.resize(std::max(b_.size(), count * stride));
    const float* below = step.embedded;  // by row
    for (std::size_t layer = 0; layer < sizes_.depth; ++layer) {
      const std::size_t width = sizes_.below(layer);
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(&hidden_[layer][step.rows[i] * h], h, &before_[i * before_stride]);
        std::copy_n(below + step.rows[i] * width, width, &below_[i * width]);
        if (layer > 0) std::copy_n(weights_.bias[layer].data(), stride, step.inputs + i * stride);
      }
      weights_.input[layer].add_to(count, below_.data(), width, step.inputs, stride);
      weights_.recurrent[layer].apply(count, before_.data(), before_stride, b_.data(), stride);
      for (std::size_t i = 0; i < count; ++i) {
        gru_gates(h, step.inputs + i * stride, &b_[i * stride], &before_[i * before_stride],
                  &hidden_[layer][step.rows[i] * h]);
      }
      below = hidden_[layer].data();
    }
  }

 private:
  const GruSizes sizes_;
  const GruWeights& weights_;
  std::vector<std::vector<float>> hidden_;  // by layer: rows x h
  std::vector<float> before_, below_, b_;
};

class CompiledGru : public CompiledCore {
 public:
  CompiledGru(const GruSizes& sizes, const Parameters& p) : sizes_(sizes) {
    for (std::size_t l = 0; l < sizes.depth; ++l) {
      weights_.input.emplace_back(sizes.gates(), sizes.below(l), p.values(sizes.input(l)),
                                  sizes.below(l));
      weights_.recurrent.push_back(
          PackedMatrix::with_bias(sizes.gates(), sizes.h + 1, p.values(sizes.recurrent(l))));
      weights_.bias.emplace_back(PackedMatrix::row_stride(sizes.gates()));
      std::copy_n(p.values(sizes.bias(l)), sizes.gates(), weights_.bias.back().begin());
    }
  }
  std::unique_ptr<CoreRows> rows(std::size_t count) const override {
    return std::make_unique<GruRows>(sizes_, weights_, count);
  }

 private:
  GruSizes sizes_;
  GruWeights weights_;
};

class GruTape : public CoreTape {
 public:
  explicit GruTape(const GruSizes& sizes)
      : CoreTape(sizes.e), sizes_(sizes), layers_(sizes.depth) {}

  void start(std::span<const std::uint32_t> first) override {
    first_ = first;
    rows_ = first.back();
    traces_ = first.size() > 1 ? first[1] : 0;
    for (Layer& layer : layers_) {
      for (auto* buffer : {&layer.a, &layer.b}) kernels::reserve(*buffer, rows_ * sizes_.gates());
      for (auto* buffer : {&layer.hidden, &layer.d_hidden}) {
        kernels::reserve(*buffer, rows_ * sizes_.h);
      }
    }
    kernels::reserve(embedded_, rows_ * sizes_.e);
    kernels::reserve(d_embedded_, rows_ * sizes_.e);
    zeros_.assign(traces_ * sizes_.h, 0.0f);
  }

  float* inputs() override { return layers_.front().a.data(); }
  float* embedded(std::size_t row) override { return &embedded_[row * sizes_.e]; }
  const float* output(std::size_t row) const override {
    return &layers_.back().hidden[row * sizes_.h];
  }
  float* d_output(std::size_t row) override { return &layers_.back().d_hidden[row * sizes_.h]; }

  void forward(const Parameters& p, const Fill& fill) override {
    std::fill_n(embedded_.begin(), traces_ * sizes_.e, 0.0f);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      for (std::size_t t = 0; t + 1 < first_.size(); ++t) {
        if (l == 0) fill(t);
        step(p, l, t);
      }
    }
  }

  void back(Parameters& p, std::vector<BlockId>& touched) override {
    for (std::size_t l = layers_.size(); l-- > 0;) {
      for (std::size_t t = first_.size() - 1; t-- > 0;) step_back(p, l, t);
      input_back(p, l);
      for (const BlockId id : {sizes_.input(l), sizes_.bias(l), sizes_.recurrent(l)}) {
        touched.push_back(id);
      }
    }
  }

 private:
  struct Layer {              // one row per row of the batch
    std::vector<float> a, b;  // a: activations; then gradients of both
    std::vector<float> hidden, d_hidden;
  };

  void step(const Parameters& p, std::size_t l, std::size_t t) {
    Layer& layer = layers_[l];
    const std::size_t h = sizes_.h, gates = sizes_.gates(), below = sizes_.below(l);
    const std::size_t first = first_[t], width = first_[t + 1] - first;
    float *a = &layer.a[first * gates], *b = &layer.b[first * gates];
    for (std::size_t i = 0; l > 0 && i < width; ++i) {
      std::copy_n(p.values(sizes_.bias(l)), gates, a + i * gates);
    }
    nn::multiply_nt(width, gates, below, input(l) + first * below, below, p.values(sizes_.input(l)),
                    below, 1, a, gates);
    apply_layer(p, sizes_.recurrent(l), width, before(layer, t), h, b);
    for (std::size_t i = 0; i < width; ++i) {
      gru_gates(h, a + i * gates, b + i * gates, before(layer, t) + i * h,
                &layer.hidden[(first + i) * h]);
    }
  }

  // a and b become gradients; what goes to the step before is added there.
  void step_back(Parameters& p, std::size_t l, std::size_t t) {
    Layer& layer = layers_[l];
    const std::size_t h = sizes_.h, gates = sizes_.gates();
    const std::size_t first = first_[t], width = first_[t + 1] - first;
    float *b = &layer.b[first * gates], *d_after = &layer.d_hidden[first * h];
    float* d_before = t ? &layer.d_hidden[first_[t - 1] * h] : nullptr;
    for (std::size_t i = 0; i < width; ++i) {
      gru_gates_back(h, &layer.a[(first + i) * gates], b + i * gates, before(layer, t) + i * h,
                     d_after + i * h);
    }
    if (d_before) kernels::add(width * h, d_after, d_before);
    apply_layer_back(p, sizes_.recurrent(l), width, before(layer, t), h, b, d_before, h, h, 1);
  }

  // The part of the input, over all rows at once.
  void input_back(Parameters& p, std::size_t l) {
    const std::size_t gates = sizes_.gates(), below = sizes_.below(l);
    const float* d_a = layers_[l].a.data();
    float* d_input = l ? layers_[l - 1].d_hidden.data() : d_embedded_.data();
    nn::multiply_tn(gates, below, rows_, d_a, gates, input(l), below, 1,
                    p.gradients(sizes_.input(l)), below);
    nn::multiply_nn(rows_, below, gates, d_a, gates, p.values(sizes_.input(l)), below, 0, d_input,
                    below);
    for (std::size_t r = 0; l > 0 && r < rows_; ++r) {
      kernels::add(gates, d_a + r * gates, p.gradients(sizes_.bias(l)));
    }
  }

  const float* input(std::size_t layer) const {
    return layer == 0 ? embedded_.data() : layers_[layer - 1].hidden.data();
  }
  // The states before a step: those of the first positions, side by side.
  const float* before(const Layer& layer, std::size_t step) const {
    return step ? &layer.hidden[first_[step - 1] * sizes_.h] : zeros_.data();
  }

  const GruSizes sizes_;
  std::span<const std::uint32_t> first_;
  std::size_t rows_ = 0, traces_ = 0;
  std::vector<Layer> layers_;
  std::vector<float> embedded_, zeros_;
};

class Gru : public Core {
 public:
  explicit Gru(const GruSizes& sizes) : sizes_(sizes) {}

  std::vector<CoreBlock> blocks() const override {
    const std::size_t h = sizes_.h, gates = sizes_.gates();
    std::vector<CoreBlock> blocks;
    for (std::size_t layer = 0; layer < sizes_.depth; ++layer) {
      blocks.push_back({fmt::format("{}.input", layer), gates, sizes_.below(layer), h});
      // z: remember by default.
      blocks.push_back({fmt::format("{}.bias", layer), gates, 1, h, h, 2 * h});
      blocks.push_back({fmt::format("{}.recurrent", layer), gates, h + 1, h});
    }
    return blocks;
  }
  BlockId input_bias() const override { return sizes_.bias(0); }
  std::size_t inputs() const override { return sizes_.gates(); }
  std::size_t outputs() const override { return sizes_.h; }
  std::size_t numbers_of_row() const override {
    return sizes_.depth * 2 * (sizes_.gates() + sizes_.h) + 2 * sizes_.e;
  }
  std::unique_ptr<CompiledCore> compile(const Parameters& parameters) const override {
    return std::make_unique<CompiledGru>(sizes_, parameters);
  }
  std::unique_ptr<CoreTape> tape() const override { return std::make_unique<GruTape>(sizes_); }

 private:
  GruSizes sizes_;
};

}  // namespace

std::shared_ptr<const Core> gru_core(const NetworkConfig& config) {
  return std::make_shared<Gru>(
      GruSizes{config.core_dim, config.sample_embedding_dim, config.core_depth});
}

}  // namespace psn
