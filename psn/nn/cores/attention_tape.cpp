// The attention core over whole batches, forward and back.
#include <algorithm>

#include "psn/nn/cores/attention.h"
#include "psn/nn/kernels.h"
#include "psn/nn/layer.h"
#include "psn/nn/math.h"

namespace psn::attention {
namespace {

// d_x += what d_y means for x, where y = normalize(x).
void normalize_back(std::size_t d, const float* y, float factor, const float* d_y, float* d_x) {
  const auto n = static_cast<float>(d);
  const float mean = sum_of(d, [&](std::size_t i) { return d_y[i]; }) / n;
  const float along =
      sum_of(d, [&](std::size_t i) { return d_y[i] * y[i]; }) / (n * kDeviation * kDeviation);
  for (std::size_t i = 0; i < d; ++i) d_x[i] += factor * (d_y[i] - mean - y[i] * along);
}

struct Normalized {
  std::vector<float> normal, factor;  // rows x d; rows

  void compute(std::size_t rows, std::size_t d, const std::vector<float>& x) {
    kernels::reserve(normal, rows * d);
    kernels::reserve(factor, rows);
    for (std::size_t r = 0; r < rows; ++r) factor[r] = normalize(d, &x[r * d], &normal[r * d]);
  }
  void back(std::size_t rows, std::size_t d, const std::vector<float>& d_normal,
            std::vector<float>& d_x) const {
    for (std::size_t r = 0; r < rows; ++r) {
      normalize_back(d, &normal[r * d], factor[r], &d_normal[r * d], &d_x[r * d]);
    }
  }
};

// Queries of one trace and head, and the steps that the last of them may look at.
struct Queries {
  std::size_t trace;  // its first row
  std::size_t first, count, steps;
  std::size_t column;  // of the head
};

// Rows lie by trace: the steps of one side by side, as attention wants them.
class Tape : public CoreTape {
 public:
  explicit Tape(const Sizes& sizes) : CoreTape(sizes.e), sizes_(sizes), layers_(sizes.depth) {}

  void start(std::span<const std::uint32_t> first) override {
    first_ = first;
    rows_ = first.back();
    lay_out();
    for (auto* buffer : {&inputs_, &x_, &change_, &d_output_}) {
      kernels::reserve(*buffer, rows_ * sizes_.d);
    }
    for (auto* buffer : {&embedded_, &d_embedded_}) kernels::reserve(*buffer, rows_ * sizes_.e);
    for (auto* buffer : {&weights_, &d_weights_}) kernels::reserve(*buffer, kBlock * longest());
  }

  float* inputs() override { return inputs_.data(); }
  float* embedded(std::size_t row) override { return &embedded_[row * sizes_.e]; }
  const float* output(std::size_t row) const override {
    return &output_.normal[place_[row] * sizes_.d];
  }
  float* d_output(std::size_t row) override { return &d_output_[place_[row] * sizes_.d]; }

  void forward(const Parameters& p, const Fill& fill) override {
    const std::size_t d = sizes_.d, e = sizes_.e;
    parameters_ = &p;
    for (std::size_t t = 0; t < longest(); ++t) fill(t);
    if (longest() > 0) std::fill_n(embedded_.begin(), first_[1] * e, 0.0f);
    nn::multiply_nt(rows_, d, e, embedded_.data(), e, p.values(kInput), e, 1, inputs_.data(), d);
    for (std::size_t t = 0; t < longest(); ++t) {
      for (std::size_t row = first_[t]; row < first_[t + 1]; ++row) {
        std::copy_n(&inputs_[row * d], d, &x_[place_[row] * d]);
        add_position(d, t, &x_[place_[row] * d]);
      }
    }
    run_layers(sizes_, *this);
  }

  // The parts of run_layers.
  void normalize_for_attention(std::size_t l) { layers_[l].asking.compute(rows_, sizes_.d, x_); }
  void normalize_for_feeding(std::size_t l) { layers_[l].feeding.compute(rows_, sizes_.d, x_); }
  void ask(std::size_t l) { run(l, kQueries, layers_[l].asking.normal, layers_[l].queries); }
  void attend(std::size_t l) {
    kernels::reserve(layers_[l].found, rows_ * sizes_.all_heads());
    each_block_of_queries([&](const Queries& block) { attend(layers_[l], block); });
  }
  void add_found(std::size_t l) { add(l, kFound, layers_[l].found); }
  void hide(std::size_t l) {
    run(l, kHidden, layers_[l].feeding.normal, layers_[l].hidden);
    kernels::relu(rows_ * sizes_.hidden(), layers_[l].hidden.data());
  }
  void add_fed(std::size_t l) { add(l, kFed, layers_[l].hidden); }
  void finish() { output_.compute(rows_, sizes_.d, x_); }

  void back(Parameters& p, std::vector<BlockId>& touched) override {
    const std::size_t d = sizes_.d, e = sizes_.e;
    std::vector<float>& d_x = x_;
    std::fill_n(d_x.begin(), rows_ * d, 0.0f);
    output_.back(rows_, d, d_output_, d_x);
    for (std::size_t l = layers_.size(); l-- > 0;) {
      Layer& layer = layers_[l];
      run_back(p, l, kFed, layer.hidden, d_x, d_hidden_);
      kernels::relu_back(rows_ * sizes_.hidden(), layer.hidden.data(), d_hidden_.data());
      run_back(p, l, kHidden, layer.feeding.normal, d_hidden_, change_);
      layer.feeding.back(rows_, d, change_, d_x);
      run_back(p, l, kFound, layer.found, d_x, d_found_);
      d_queries_.assign(rows_ * 3 * sizes_.all_heads(), 0.0f);
      each_block_of_queries([&](const Queries& block) { attend_back(layer, block); });
      run_back(p, l, kQueries, layer.asking.normal, d_queries_, change_);
      layer.asking.back(rows_, d, change_, d_x);
    }
    for (std::size_t row = 0; row < rows_; ++row) {
      std::copy_n(&d_x[place_[row] * d], d, &inputs_[row * d]);
    }
    nn::multiply_tn(d, e, rows_, inputs_.data(), d, embedded_.data(), e, 1, p.gradients(kInput), e);
    nn::multiply_nn(rows_, e, d, inputs_.data(), d, p.values(kInput), e, 0, d_embedded_.data(), e);
    for (BlockId id = 0; id < block_of(sizes_.depth, kQueries); ++id) touched.push_back(id);
  }

 private:
  static constexpr std::size_t kBlock = 64;  // queries at a time

  struct Layer {
    Normalized asking, feeding;  // normalized x
    std::vector<float> queries;  // with keys and values
    std::vector<float> found, hidden;
  };

  std::size_t longest() const { return first_.size() - 1; }

  void lay_out() {
    place_.resize(rows_);
    lengths_.assign(longest() > 0 ? first_[1] : 0, 0);
    for (std::size_t t = 0; t < longest(); ++t) {
      for (std::size_t b = 0; b < first_[t + 1] - first_[t]; ++b) ++lengths_[b];
    }
    std::size_t start = 0;
    for (std::size_t b = 0; b < lengths_.size(); start += lengths_[b++]) {
      for (std::size_t t = 0; t < lengths_[b]; ++t) place_[first_[t] + b] = start + t;
    }
  }

  template <class Visit>
  void each_block_of_queries(const Visit& visit) {
    std::size_t trace = 0;
    for (const std::size_t length : lengths_) {
      for (std::size_t first = 0; first < length; first += kBlock) {
        const std::size_t count = std::min(kBlock, length - first);
        for (std::size_t head = 0; head < sizes_.heads; ++head) {
          visit(Queries{trace, first, count, first + count, head * sizes_.head()});
        }
      }
      trace += length;
    }
  }

  // Where the block's queries are, and all keys and values that they look at.
  struct Pointers {
    float *queries, *keys, *values;
  };
  Pointers pointers(std::vector<float>& of, const Queries& block) const {
    const std::size_t all = sizes_.all_heads();
    float* trace = &of[block.trace * 3 * all + block.column];
    return {trace + block.first * 3 * all, trace + all, trace + 2 * all};
  }
  float* found(std::vector<float>& of, const Queries& block) const {
    return &of[(block.trace + block.first) * sizes_.all_heads() + block.column];
  }

  // weights_: count x steps, a softmax over the steps up to each query's own.
  void weigh(Layer& layer, const Queries& block) {
    const std::size_t ld = 3 * sizes_.all_heads();
    const Pointers at = pointers(layer.queries, block);
    const float scale = sizes_.scale();
    nn::multiply_nt(block.count, block.steps, sizes_.head(), at.queries, ld, at.keys, ld, 0,
                    weights_.data(), block.steps);
    for (std::size_t i = 0; i < block.count; ++i) {
      float* row = &weights_[i * block.steps];
      const std::size_t seen = block.first + i + 1;
      for (std::size_t j = 0; j < seen; ++j) row[j] *= scale;
      nn::softmax(seen, row);
      std::fill(row + seen, row + block.steps, 0.0f);
    }
  }

  void attend(Layer& layer, const Queries& block) {
    const std::size_t all = sizes_.all_heads();
    weigh(layer, block);
    nn::multiply_nn(block.count, sizes_.head(), block.steps, weights_.data(), block.steps,
                    pointers(layer.queries, block).values, 3 * all, 0, found(layer.found, block),
                    all);
  }

  // The weights are computed again: kept, they would grow with the square of the length.
  void attend_back(Layer& layer, const Queries& block) {
    const std::size_t all = sizes_.all_heads(), ld = 3 * all, head = sizes_.head();
    const std::size_t count = block.count, steps = block.steps;
    const Pointers at = pointers(layer.queries, block), d = pointers(d_queries_, block);
    const float* d_found = found(d_found_, block);
    const float scale = sizes_.scale();
    weigh(layer, block);
    nn::multiply_tn(steps, head, count, weights_.data(), steps, d_found, all, 1, d.values, ld);
    nn::multiply_nt(count, steps, head, d_found, all, at.values, ld, 0, d_weights_.data(), steps);
    for (std::size_t i = 0; i < count; ++i) {
      const float* w = &weights_[i * steps];
      float* d_w = &d_weights_[i * steps];
      const float mean = sum_of(steps, [&](std::size_t j) { return w[j] * d_w[j]; });
      for (std::size_t j = 0; j < steps; ++j) d_w[j] = scale * w[j] * (d_w[j] - mean);
    }
    nn::multiply_nn(count, head, steps, d_weights_.data(), steps, at.keys, ld, 0, d.queries, ld);
    nn::multiply_tn(steps, head, count, d_weights_.data(), steps, at.queries, ld, 1, d.keys, ld);
  }

  void run(std::size_t layer, Dense dense, const std::vector<float>& in, std::vector<float>& out) {
    const BlockId id = block_of(layer, dense);
    const Block& block = parameters_->block(id);
    kernels::reserve(out, rows_ * block.rows);
    apply_layer(*parameters_, id, rows_, in.data(), block.columns - 1, out.data());
  }
  void add(std::size_t layer, Dense dense, const std::vector<float>& in) {
    run(layer, dense, in, change_);
    kernels::add(rows_ * sizes_.d, change_.data(), x_.data());
  }
  void run_back(Parameters& p, std::size_t layer, Dense dense, const std::vector<float>& in,
                const std::vector<float>& d_out, std::vector<float>& d_in) const {
    const BlockId id = block_of(layer, dense);
    const std::size_t width = p.block(id).columns - 1;
    kernels::reserve(d_in, rows_ * width);
    apply_layer_back(p, id, rows_, in.data(), width, d_out.data(), d_in.data(), width, width, 0);
  }

  const Sizes sizes_;
  const Parameters* parameters_ = nullptr;  // of the pass under way
  std::span<const std::uint32_t> first_;
  std::size_t rows_ = 0;
  std::vector<std::size_t> lengths_;      // of the traces
  std::vector<std::size_t> place_;        // by row of the batch: its place by trace
  std::vector<float> inputs_, embedded_;  // by row of the batch
  std::vector<Layer> layers_;
  Normalized output_;
  std::vector<float> x_;  // and then its gradient
  std::vector<float> change_, d_output_, d_queries_, d_found_, d_hidden_;
  std::vector<float> weights_, d_weights_;
};

}  // namespace

std::unique_ptr<CoreTape> tape(const Sizes& sizes) {
  return std::make_unique<Tape>(sizes);
}

}  // namespace psn::attention
