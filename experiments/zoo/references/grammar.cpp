// The inside algorithm: what each symbol may have said of every stretch of the sentence, from short
// ones to long. Counts of asides that belong to the verb are kept apart.
#include <array>
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr std::size_t kCounts = 6;  // more asides than that do not fit into twelve words
using ByCount = std::array<double, kCounts>;
using Stretches = std::vector<std::vector<ByCount>>;  // by begin and end

class Inside {
 public:
  Inside(Data heard, double wordiness)
      : heard_(heard),
        w_(wordiness),
        noun_phrase_(table()),
        verb_phrase_(table()),
        aside_(table()) {
    for (std::size_t length = 1; length <= heard.size(); ++length) {
      for (std::size_t i = 0; i + length <= heard.size(); ++i) fill(i, i + length);
    }
  }

  // A noun phrase, then a verb phrase.
  ByCount sentence() const {
    ByCount result{};
    for (std::size_t k = 1; k < heard_.size(); ++k) {
      add(result, 1, noun_phrase_[0][k], verb_phrase_[k][heard_.size()], 0);
    }
    return result;
  }

 private:
  Stretches table() const {
    return Stretches(heard_.size(), std::vector<ByCount>(heard_.size() + 1));
  }

  // One of `count` words from `first` on was said, all alike, and heard so.
  double said(std::size_t at, double first, double count) const {
    const bool right = heard_[at] >= first && heard_[at] < first + count;
    return right ? (0.91 + 0.01 * (count - 1)) / count : 0.01;
  }

  static void add(ByCount& to, double factor, const ByCount& a, const ByCount& b,
                  std::size_t more) {
    for (std::size_t i = 0; i < kCounts; ++i) {
      for (std::size_t j = 0; i + j + more < kCounts; ++j) {
        to[i + j + more] += factor * a[i] * b[j];
      }
    }
  }

  static ByCount sure(double p) { return {p}; }

  void fill(std::size_t i, std::size_t j) {
    if (j - i > 1) {  // a preposition or a verb, then a noun phrase
      add(aside_[i][j], 1, sure(said(i, 7, 2)), noun_phrase_[i + 1][j], 0);
      add(verb_phrase_[i][j], 1 - w_ / 2, sure(said(i, 5, 2)), noun_phrase_[i + 1][j], 0);
    } else {
      noun_phrase_[i][j][0] += 0.4 * (1 - w_) * said(i, 9, 1);
    }
    if (j - i == 2) noun_phrase_[i][j][0] += 0.6 * (1 - w_) * said(i, 0, 2) * said(i + 1, 2, 3);
    for (std::size_t k = i + 1; k < j; ++k) {
      add(noun_phrase_[i][j], w_, noun_phrase_[i][k], aside_[k][j], 0);
      add(verb_phrase_[i][j], w_ / 2, verb_phrase_[i][k], aside_[k][j], 1);
    }
  }

  Data heard_;
  double w_;
  Stretches noun_phrase_, verb_phrase_, aside_;
};

}  // namespace

Answer grammar(Data heard) {
  constexpr Axis kWordiness = {0, 1, 400};
  std::size_t words = 0;
  while (words < heard.size() && heard[words] < 10) ++words;
  WeightedPoints posterior;
  each_cell({&kWordiness, 1}, [&](std::span<const double> w) {
    const double prior = family::Beta::log_prob({2, 4}, w[0]) + std::log(kWordiness.width());
    const ByCount p = Inside(heard.first(words), w[0]).sentence();
    for (std::size_t k = 0; k < kCounts; ++k) {
      const double point[] = {w[0], static_cast<double>(k)};
      posterior.add(prior + std::log(p[k]), point);
    }
  });
  return posterior.answer();
}

}  // namespace psn::zoo::references
