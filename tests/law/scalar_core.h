// Cores by their formulas, one number at a time: what the fast ones are held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "psn/nn/network.h"

namespace psn::test {

using Numbers = std::vector<double>;

// Products with a network's blocks.
class ScalarBlocks {
 public:
  explicit ScalarBlocks(const Network& network) : network_(network) {}

 protected:
  static Numbers joined(Numbers a, const Numbers& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static Numbers relu(Numbers v) {
    for (double& x : v) x = std::max(0.0, x);
    return v;
  }
  static Numbers sum(Numbers a, const Numbers& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  void add(Numbers& out, BlockId id, const Numbers& x) const {
    const Block& block = network_.parameters().block(id);
    const float* w = network_.parameters().values(id);
    for (std::size_t i = 0; i < block.rows; ++i) {
      for (std::size_t j = 0; j < block.columns; ++j) out[i] += w[i * block.columns + j] * x[j];
    }
  }
  Numbers product(BlockId id, const Numbers& x) const {
    Numbers out(network_.parameters().block(id).rows);
    add(out, id, x);
    return out;
  }
  Numbers affine(BlockId id, Numbers x) const {
    x.push_back(1);
    return product(id, x);
  }

  const Network& network_;
};

class ScalarCore : public ScalarBlocks {
 public:
  explicit ScalarCore(const Network& network)
      : ScalarBlocks(network),
        depth_(network.config().core_depth),
        h_(network.hidden()),
        hidden_(depth_, Numbers(h_)),
        cell_(hidden_),
        keys_(depth_),
        values_(depth_) {}

  // `inputs`: without their bias.
  Numbers step(Numbers inputs, const Numbers& embedded) {
    add(inputs, network_.core().input_bias(), {1.0});
    const std::string& core = network_.config().core;
    return core == "lstm"  ? lstm(inputs, embedded)
           : core == "gru" ? gru(inputs, embedded)
                           : attention(inputs, embedded);
  }

 private:
  static double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

  Numbers lstm(Numbers gates, Numbers input) {
    for (std::size_t l = 0; l < depth_; ++l) {
      const auto recurrent = static_cast<BlockId>(2 * l), bias = recurrent + 1;
      if (l > 0) gates = product(bias, {1.0});
      add(gates, recurrent, joined(hidden_[l], input));
      for (std::size_t j = 0; j < h_; ++j) {
        double& cell = cell_[l][j];
        cell = sigmoid(gates[h_ + j]) * cell + sigmoid(gates[j]) * std::tanh(gates[2 * h_ + j]);
        hidden_[l][j] = sigmoid(gates[3 * h_ + j]) * std::tanh(cell);
      }
      input = hidden_[l];
    }
    return input;
  }

  Numbers gru(Numbers a, Numbers input) {
    for (std::size_t l = 0; l < depth_; ++l) {
      const auto from_input = static_cast<BlockId>(3 * l), bias = from_input + 1;
      if (l > 0) a = product(bias, {1.0});
      add(a, from_input, input);
      const Numbers b = affine(bias + 1, hidden_[l]);
      for (std::size_t j = 0; j < h_; ++j) {
        const double r = sigmoid(a[j] + b[j]), z = sigmoid(a[h_ + j] + b[h_ + j]);
        const double n = std::tanh(a[2 * h_ + j] + r * b[2 * h_ + j]);
        hidden_[l][j] = (1 - z) * n + z * hidden_[l][j];
      }
      input = hidden_[l];
    }
    return input;
  }

  static Numbers normalized(Numbers x) {
    const auto n = static_cast<double>(x.size());
    double mean = 0, variance = 0;
    for (const double v : x) mean += v / n;
    for (const double v : x) variance += (v - mean) * (v - mean) / n;
    for (double& v : x) v = 0.25 * (v - mean) / std::sqrt(variance + 1e-5);
    return x;
  }

  Numbers attention(Numbers x, const Numbers& embedded) {
    add(x, 1, embedded);
    for (std::size_t j = 0; j < h_; ++j) {
      const std::size_t pair = j / 2 * 2;
      const double angle = steps_ / std::pow(1e4, static_cast<double>(pair) / h_);
      x[j] += j % 2 ? std::cos(angle) : std::sin(angle);
    }
    ++steps_;
    for (std::size_t l = 0; l < depth_; ++l) {
      const auto first = static_cast<BlockId>(2 + 4 * l);
      x = sum(x, affine(first + 1, found(l, affine(first, normalized(x)))));
      x = sum(x, affine(first + 3, relu(affine(first + 2, normalized(x)))));
    }
    return normalized(x);
  }

  Numbers found(std::size_t l, const Numbers& q) {
    const std::size_t heads = network_.config().attention_heads, all = q.size() / 3;
    const std::size_t width = all / heads;
    keys_[l].emplace_back(q.begin() + static_cast<long>(all),
                          q.begin() + static_cast<long>(2 * all));
    values_[l].emplace_back(q.begin() + static_cast<long>(2 * all), q.end());
    Numbers result(all);
    for (std::size_t head = 0; head < heads; ++head) {
      Numbers weights;
      double total = 0;
      for (const Numbers& key : keys_[l]) {
        double dot = 0;
        for (std::size_t i = head * width; i < (head + 1) * width; ++i) dot += q[i] * key[i];
        weights.push_back(std::exp(dot / std::sqrt(static_cast<double>(width))));
        total += weights.back();
      }
      for (std::size_t t = 0; t < weights.size(); ++t) {
        for (std::size_t i = head * width; i < (head + 1) * width; ++i) {
          result[i] += weights[t] / total * values_[l][t][i];
        }
      }
    }
    return result;
  }

  std::size_t depth_, h_;
  std::vector<Numbers> hidden_, cell_;               // by layer
  std::vector<std::vector<Numbers>> keys_, values_;  // by layer and step
  double steps_ = 0;
};

}  // namespace psn::test
