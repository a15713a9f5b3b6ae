#include "psn/evidence/classifier.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <numeric>

#include "psn/base/error.h"
#include "psn/base/rng.h"
#include "psn/nn/kernels.h"
#include "psn/nn/math.h"

namespace psn::evidence {
namespace {

using Floats = std::vector<float>;

// A dense layer with Adam's moments; rows are outputs.
struct Dense {
  std::size_t inputs, outputs;
  Floats weights, bias;
  Floats d_weights, d_bias;
  Floats first, second;  // moments: of the weights, then of the bias

  Dense(std::size_t in, std::size_t out, Rng& rng) : inputs(in), outputs(out) {
    const double bound = std::sqrt(6.0 / static_cast<double>(in + out));
    weights.resize(in * out);
    for (float& w : weights) w = static_cast<float>(bound * (2 * rng.uniform() - 1));
    bias.resize(out);
    d_weights.resize(in * out);
    d_bias.resize(out);
    first.resize((in + 1) * out);
    second.resize((in + 1) * out);
  }

  void forward(std::size_t rows, const float* x, float* y) const {
    for (std::size_t i = 0; i < rows; ++i) std::copy(bias.begin(), bias.end(), y + i * outputs);
    nn::multiply_nt(rows, outputs, inputs, x, inputs, weights.data(), inputs, 1, y, outputs);
  }

  // d_x may be null.
  void backward(std::size_t rows, const float* x, const float* d_y, float* d_x) {
    nn::multiply_tn(outputs, inputs, rows, d_y, outputs, x, inputs, 0, d_weights.data(), inputs);
    std::fill(d_bias.begin(), d_bias.end(), 0.0f);
    for (std::size_t i = 0; i < rows; ++i) kernels::add(outputs, d_y + i * outputs, d_bias.data());
    if (!d_x) return;
    nn::multiply_nn(rows, inputs, outputs, d_y, outputs, weights.data(), inputs, 0, d_x, inputs);
  }

  void update(float rate, float correction1, float correction2) {
    step(weights, d_weights, 0, rate, correction1, correction2);
    step(bias, d_bias, weights.size(), rate, correction1, correction2);
  }

 private:
  void step(Floats& w, const Floats& d, std::size_t at, float rate, float correction1,
            float correction2) {
    constexpr float kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;
    float *m = first.data() + at, *v = second.data() + at;
    for (std::size_t i = 0; i < w.size(); ++i) {
      m[i] = kBeta1 * m[i] + (1 - kBeta1) * d[i];
      v[i] = kBeta2 * v[i] + (1 - kBeta2) * d[i] * d[i];
      w[i] -= rate * (m[i] / correction1) / (std::sqrt(v[i] / correction2) + kEpsilon);
    }
  }
};

struct Points {
  std::size_t columns;
  Floats x;                 // standardised
  std::vector<bool> other;  // which sample a row is of
};

// Both samples in the units of the first.
Points standardised(const std::vector<double>& one, const std::vector<double>& other,
                    std::size_t columns) {
  const std::size_t rows = one.size() / columns;
  Points points{columns, Floats(2 * rows * columns), std::vector<bool>(2 * rows)};
  std::fill(points.other.begin() + static_cast<std::ptrdiff_t>(rows), points.other.end(), true);
  for (std::size_t c = 0; c < columns; ++c) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += one[i * columns + c];
    const double mean = sum / static_cast<double>(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      squares += (one[i * columns + c] - mean) * (one[i * columns + c] - mean);
    }
    const double sd = std::max(1e-12, std::sqrt(squares / static_cast<double>(rows)));
    for (std::size_t i = 0; i < rows; ++i) {
      points.x[i * columns + c] = static_cast<float>((one[i * columns + c] - mean) / sd);
      points.x[(rows + i) * columns + c] = static_cast<float>((other[i * columns + c] - mean) / sd);
    }
  }
  return points;
}

class Classifier {
 public:
  Classifier(const Points& points, std::size_t width, Rng rng)
      : points_(points),
        rng_(rng),
        width_(width > 0 ? width : 10 * points.columns),
        layers_{Dense(points.columns, width_, rng_), Dense(width_, width_, rng_),
                Dense(width_, 1, rng_)} {}

  // Ends when ten epochs in a row bring no more than 1e-4 of the loss.
  void learn(std::vector<std::size_t> rows, const ClassifierOptions& options) {
    constexpr double kTolerance = 1e-4;
    constexpr int kPatience = 10;
    double best = 1e30;
    int stale = 0;
    for (std::size_t epoch = 0; epoch < options.epochs && stale < kPatience; ++epoch) {
      if (options.stop && options.stop->load()) throw Interrupted();
      for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[rng_.below(i)]);
      double loss = 0;
      for (std::size_t at = 0; at < rows.size(); at += kBatch) {
        loss += batch(rows.data() + at, std::min(kBatch, rows.size() - at));
      }
      loss /= static_cast<double>(rows.size());
      stale = loss > best - kTolerance ? stale + 1 : 0;
      best = std::min(best, loss);
    }
  }

  std::size_t correct(const std::vector<std::size_t>& rows) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < rows.size(); at += kBatch) {
      const std::size_t size = std::min(kBatch, rows.size() - at);
      forward(rows.data() + at, size);
      for (std::size_t i = 0; i < size; ++i) {
        count += (logits_[i] > 0) == points_.other[rows[at + i]] ? 1 : 0;
      }
    }
    return count;
  }

 private:
  static constexpr std::size_t kBatch = 200;

  void forward(const std::size_t* rows, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      std::copy_n(points_.x.begin() + static_cast<std::ptrdiff_t>(rows[i] * points_.columns),
                  points_.columns, x_.begin() + static_cast<std::ptrdiff_t>(i * points_.columns));
    }
    layers_[0].forward(size, x_.data(), first_.data());
    kernels::relu(size * width_, first_.data());
    layers_[1].forward(size, first_.data(), second_.data());
    kernels::relu(size * width_, second_.data());
    layers_[2].forward(size, second_.data(), logits_.data());
  }

  // The summed loss, before the update.
  double batch(const std::size_t* rows, std::size_t size) {
    forward(rows, size);
    double loss = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const double sign = points_.other[rows[i]] ? 1 : -1, z = sign * logits_[i];
      loss += z > 0 ? std::log1p(std::exp(-z)) : -z + std::log1p(std::exp(z));
      logits_[i] = static_cast<float>(-sign / (1 + std::exp(z)) / static_cast<double>(size));
    }
    layers_[2].backward(size, second_.data(), logits_.data(), d_second_.data());
    kernels::relu_back(size * width_, second_.data(), d_second_.data());
    layers_[1].backward(size, first_.data(), d_second_.data(), d_first_.data());
    kernels::relu_back(size * width_, first_.data(), d_first_.data());
    layers_[0].backward(size, x_.data(), d_first_.data(), nullptr);
    ++updates_;
    const auto correction = [&](double beta) {
      return static_cast<float>(1 - std::pow(beta, static_cast<double>(updates_)));
    };
    for (Dense& layer : layers_) layer.update(1e-3f, correction(0.9), correction(0.999));
    return loss;
  }

  const Points& points_;
  Rng rng_;
  const std::size_t width_;
  Dense layers_[3];
  std::uint64_t updates_ = 0;
  Floats x_ = Floats(kBatch * points_.columns), first_ = Floats(kBatch * width_), second_ = first_,
         d_first_ = first_, d_second_ = first_, logits_ = Floats(kBatch);
};

}  // namespace

double classifier_accuracy(const std::vector<double>& one, const std::vector<double>& other,
                           std::size_t columns, const ClassifierOptions& options) {
  if (one.empty() || one.size() != other.size() || one.size() % columns != 0) {
    throw InvalidArgument("a two-sample test takes two samples of as many rows");
  }
  const Points points = standardised(one, other, columns);
  std::vector<std::size_t> order(points.other.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(options.seed, 0, 0x633273);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  const auto judge = [&](std::size_t fold) {
    nn::use_one_thread_for_products();
    std::vector<std::size_t> learned, judged;
    for (std::size_t i = 0; i < order.size(); ++i) {
      (i % options.folds == fold ? judged : learned).push_back(order[i]);
    }
    Classifier classifier(points, options.width, Rng(options.seed, fold + 1, 0x633273));
    classifier.learn(std::move(learned), options);
    return classifier.correct(judged);
  };
  std::vector<std::future<std::size_t>> folds;
  for (std::size_t fold = 0; fold < options.folds; ++fold) {
    folds.push_back(std::async(std::launch::async, judge, fold));
  }
  std::size_t correct = 0;
  for (auto& fold : folds) correct += fold.get();
  return static_cast<double>(correct) / static_cast<double>(order.size());
}

}  // namespace psn::evidence
