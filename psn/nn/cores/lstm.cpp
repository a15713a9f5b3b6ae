// Long short-term memory, in layers (Hochreiter and Schmidhuber 1997, with a forget gate). The
// inputs are the first layer's gates before their activation, but for the part of its own state and
// of the last value.
#include <fmt/format.h>

#include <algorithm>

#include "psn/nn/cores/core.h"
#include "psn/nn/kernels.h"
#include "psn/nn/math.h"
#include "psn/nn/packed_matrix.h"

namespace psn {
namespace {

using nn::PackedMatrix;

struct LstmSizes {
  std::size_t h, e, depth;
  std::size_t gates() const { return 4 * h; }
  std::size_t below(std::size_t layer) const { return layer == 0 ? e : h; }
  // gates() x [own h | input]: the input is the value embedding, or h below.
  static BlockId recurrent(std::size_t layer) { return static_cast<BlockId>(2 * layer); }
  static BlockId bias(std::size_t layer) { return static_cast<BlockId>(2 * layer + 1); }
};

struct LstmWeights {
  std::vector<PackedMatrix> recurrent;
  std::vector<std::vector<float>> bias;  // of the upper layers
};

class LstmRows : public CoreRows {
 public:
  LstmRows(const LstmSizes& sizes, const LstmWeights& weights, std::size_t rows)
      : sizes_(sizes), weights_(weights), hidden_(sizes.depth), cell_(sizes.depth) {
    cell_tanh_.resize(sizes.h);
    resize(rows);
  }

  void resize(std::size_t rows) override {
    fresh_.resize(rows, 1);
    for (auto* state : {&hidden_, &cell_}) {
      for (auto& layer : *state) layer.resize(rows * sizes_.h);
    }
  }

  void restart(Row row) override {
    fresh_[row] = 1;
    each_state(row, [&](float* state) { std::fill_n(state, sizes_.h, 0.0f); });
  }

  void copy(Row from, Row to) override {
    fresh_[to] = fresh_[from];
    const auto offset = (static_cast<std::ptrdiff_t>(from) - static_cast<std::ptrdiff_t>(to)) *
                        static_cast<std::ptrdiff_t>(sizes_.h);
    each_state(to, [&](float* state) { std::copy_n(state + offset, sizes_.h, state); });
  }

  void step(const Step& step) override {
    const std::size_t h = sizes_.h, count = step.rows.size(), stride = step.stride;
    float* gates = step.inputs;
    input_.resize(
        std::max(input_.size(), count * PackedMatrix::row_stride(h + std::max(h, sizes_.e))));
    for (std::size_t layer = 0; layer < sizes_.depth; ++layer) {
      const std::size_t below = sizes_.below(layer), width = PackedMatrix::row_stride(h + below);
      for (std::size_t i = 0; i < count; ++i) {
        const Row row = step.rows[i];
        float* in = input_.data() + i * width;
        std::copy_n(hidden(layer, row), h, in);
        std::copy_n(layer == 0 ? step.embedded + row * below : hidden(layer - 1, row), below,
                    in + h);
        if (layer > 0) std::copy_n(weights_.bias[layer].data(), stride, gates + i * stride);
      }
      // The first layer's input is zero at the first step of a trace.
      const auto skipped = [&](std::size_t i) { return layer == 0 && fresh_[step.rows[i]] != 0; };
      for (std::size_t i = 0, end = 0; i < count; i = end) {
        while (end < count && skipped(end) == skipped(i)) ++end;
        if (skipped(i)) continue;
        weights_.recurrent[layer].add_to(end - i, &input_[i * width], width, gates + i * stride,
                                         stride);
      }
      for (std::size_t i = 0; i < count; ++i) {
        const Row row = step.rows[i];
        nn::lstm_gates(h, gates + i * stride, cell_[layer].data() + row * h, cell_tanh_.data(),
                       hidden(layer, row));
      }
    }
    for (const Row row : step.rows) fresh_[row] = 0;
  }

  const float* output(Row row) const override { return hidden_.back().data() + row * sizes_.h; }

 private:
  float* hidden(std::size_t layer, Row row) { return hidden_[layer].data() + row * sizes_.h; }

  template <class Visit>
  void each_state(Row row, const Visit& visit) {
    for (auto* state : {&hidden_, &cell_}) {
      for (auto& layer : *state) visit(layer.data() + row * sizes_.h);
    }
  }

  const LstmSizes sizes_;
  const LstmWeights& weights_;
  std::vector<std::vector<float>> hidden_, cell_;  // by layer: rows x h
  std::vector<char> fresh_;                        // by row: there has been no step
  std::vector<float> input_, cell_tanh_;
};

class CompiledLstm : public CompiledCore {
 public:
  CompiledLstm(const LstmSizes& sizes, const Parameters& parameters) : sizes_(sizes) {
    for (std::size_t layer = 0; layer < sizes.depth; ++layer) {
      const Block& block = parameters.block(sizes.recurrent(layer));
      weights_.recurrent.emplace_back(block.rows, block.columns,
                                      parameters.values(sizes.recurrent(layer)), block.columns);
      std::vector<float> bias(PackedMatrix::row_stride(block.rows));
      std::copy_n(parameters.values(sizes.bias(layer)), block.rows, bias.begin());
      weights_.bias.push_back(std::move(bias));
    }
  }

  std::unique_ptr<CoreRows> rows(std::size_t count) const override {
    return std::make_unique<LstmRows>(sizes_, weights_, count);
  }

 private:
  LstmSizes sizes_;
  LstmWeights weights_;
};

class LstmTape : public CoreTape {
 public:
  explicit LstmTape(const LstmSizes& sizes)
      : CoreTape(sizes.e), sizes_(sizes), layers_(sizes.depth) {}

  void start(std::span<const std::uint32_t> first) override {
    first_ = first;
    rows_ = first.back();
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      Layer& layer = layers_[l];
      kernels::reserve(layer.input, rows_ * (sizes_.h + sizes_.below(l)));
      kernels::reserve(layer.gates, rows_ * sizes_.gates());
      for (auto* buffer : {&layer.cell, &layer.cell_tanh, &layer.hidden, &layer.d_hidden}) {
        kernels::reserve(*buffer, rows_ * sizes_.h);
      }
    }
    kernels::reserve(d_embedded_, rows_ * sizes_.e);
  }

  float* inputs() override { return layers_.front().gates.data(); }
  float* embedded(std::size_t row) override {
    return &layers_.front().input[row * (sizes_.h + sizes_.e) + sizes_.h];
  }
  const float* output(std::size_t row) const override {
    return &layers_.back().hidden[row * sizes_.h];
  }
  float* d_output(std::size_t row) override { return &layers_.back().d_hidden[row * sizes_.h]; }

  void forward(const Parameters& p, const Fill& fill) override {
    const std::size_t h = sizes_.h, gates = sizes_.gates();
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      Layer& layer = layers_[l];
      const std::size_t inputs = sizes_.below(l), ld = h + inputs;
      for (std::size_t t = 0; t + 1 < first_.size(); ++t) {
        const std::size_t first = first_[t], width = first_[t + 1] - first;
        if (l == 0) fill(t);
        for (std::size_t b = 0; b < width; ++b) {
          const std::size_t row = first + b;
          if (l > 0) {
            std::copy_n(p.values(sizes_.bias(l)), gates, &layer.gates[row * gates]);
            std::copy_n(&layers_[l - 1].hidden[row * h], h, &layer.input[row * ld + h]);
          }
          if (t) {
            const std::size_t before = first_[t - 1] + b;
            std::copy_n(&layer.hidden[before * h], h, &layer.input[row * ld]);
            std::copy_n(&layer.cell[before * h], h, &layer.cell[row * h]);
          } else {
            std::fill_n(&layer.input[row * ld], l ? h : ld, 0.0f);
            std::fill_n(&layer.cell[row * h], h, 0.0f);
          }
        }
        if (t || l) {
          const std::size_t skip = t ? 0 : h;  // nothing came before
          nn::multiply_nt(width, gates, ld - skip, &layer.input[first * ld + skip], ld,
                          p.values(sizes_.recurrent(l)) + skip, ld, 1, &layer.gates[first * gates],
                          gates);
        }
        for (std::size_t row = first; row < first + width; ++row) {
          nn::lstm_gates(h, &layer.gates[row * gates], &layer.cell[row * h],
                         &layer.cell_tanh[row * h], &layer.hidden[row * h]);
        }
      }
    }
  }

  void back(Parameters& p, std::vector<BlockId>& touched) override {
    const std::size_t h = sizes_.h, gates = sizes_.gates();
    const std::vector<float> zero(h, 0.0f);
    for (std::size_t l = layers_.size(); l-- > 0;) {
      Layer& layer = layers_[l];
      const BlockId recurrent = sizes_.recurrent(l), bias = sizes_.bias(l);
      const std::size_t ld = h + sizes_.below(l);
      d_cell_.assign((first_.size() > 1 ? first_[1] : 0) * h, 0.0f);
      for (std::size_t t = first_.size() - 1; t-- > 0;) {
        const std::size_t first = first_[t], width = first_[t + 1] - first;
        const std::size_t before = t ? first_[t - 1] : 0;
        for (std::size_t b = 0; b < width; ++b) {
          const std::size_t row = first + b;
          kernels::lstm_gates_back(
              h, &layer.gates[row * gates], t ? &layer.cell[(before + b) * h] : zero.data(),
              &layer.cell_tanh[row * h], &layer.d_hidden[row * h], &d_cell_[b * h]);
        }
        if (t) {
          nn::multiply_nn(width, h, gates, &layer.gates[first * gates], gates, p.values(recurrent),
                          ld, 1, &layer.d_hidden[before * h], h);
        }
      }
      nn::multiply_tn(gates, ld, rows_, layer.gates.data(), gates, layer.input.data(), ld, 1,
                      p.gradients(recurrent), ld);
      float* d_input = l ? layers_[l - 1].d_hidden.data() : d_embedded_.data();
      nn::multiply_nn(rows_, ld - h, gates, layer.gates.data(), gates, p.values(recurrent) + h, ld,
                      0, d_input, ld - h);
      touched.push_back(recurrent);
      touched.push_back(bias);
      if (l == 0) continue;
      for (std::size_t r = 0; r < rows_; ++r) {
        kernels::add(gates, &layer.gates[r * gates], p.gradients(bias));
      }
    }
  }

 private:
  struct Layer {               // one row per row of the batch
    std::vector<float> input;  // [own h of the step before | input]
    std::vector<float> gates;  // activations; then gradients of the pre-activations
    std::vector<float> cell, cell_tanh;
    std::vector<float> hidden;
    std::vector<float> d_hidden;
  };

  const LstmSizes sizes_;
  std::span<const std::uint32_t> first_;
  std::size_t rows_ = 0;
  std::vector<Layer> layers_;
  std::vector<float> d_cell_;
};

class Lstm : public Core {
 public:
  explicit Lstm(const LstmSizes& sizes) : sizes_(sizes) {}

  std::size_t inputs() const override { return sizes_.gates(); }
  std::size_t outputs() const override { return sizes_.h; }
  BlockId input_bias() const override { return sizes_.bias(0); }

  std::vector<CoreBlock> blocks() const override {
    const std::size_t h = sizes_.h, gates = sizes_.gates();
    std::vector<CoreBlock> blocks;
    for (std::size_t layer = 0; layer < sizes_.depth; ++layer) {
      blocks.push_back({fmt::format("{}.recurrent", layer), gates, h + sizes_.below(layer), h});
      // The forget gate: remember by default.
      blocks.push_back({fmt::format("{}.bias", layer), gates, 1, h, h, 2 * h});
    }
    return blocks;
  }

  std::size_t numbers_of_row() const override {
    return sizes_.depth * (2 * sizes_.h + sizes_.gates() + 4 * sizes_.h) + sizes_.e;
  }
  std::unique_ptr<CompiledCore> compile(const Parameters& parameters) const override {
    return std::make_unique<CompiledLstm>(sizes_, parameters);
  }
  std::unique_ptr<CoreTape> tape() const override { return std::make_unique<LstmTape>(sizes_); }

 private:
  LstmSizes sizes_;
};

}  // namespace

std::shared_ptr<const Core> lstm_core(const NetworkConfig& config) {
  return std::make_shared<Lstm>(
      LstmSizes{config.core_dim, config.sample_embedding_dim, config.core_depth});
}

}  // namespace psn
