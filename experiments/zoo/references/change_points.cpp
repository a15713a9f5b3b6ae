// Dynamic programming: the data up to a change, those after it, and segments in between, whose
// levels are integrated out by conjugacy.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/base/numerics.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr double kJump = 0.06, kLevels = 9, kNoiseVariance = 1;  // variances

struct Segment {
  double log_density;     // of its data, and of its being that long
  double mean, variance;  // of its level
};

class Segments {
 public:
  explicit Segments(Data y) : y_(y) {}

  Segment operator()(std::size_t begin, std::size_t end) const {
    Segment s{0, 0, kLevels};
    for (std::size_t t = begin; t < end; ++t) {
      const double total = s.variance + kNoiseVariance;
      s.log_density += family::Normal::log_prob({s.mean, std::sqrt(total)}, y_[t]);
      s.mean += s.variance / total * (y_[t] - s.mean);
      s.variance *= kNoiseVariance / total;
    }
    const auto length = static_cast<double>(end - begin);
    s.log_density += (length - 1) * std::log1p(-kJump);
    if (end < y_.size()) s.log_density += std::log(kJump);  // the last one may go on
    return s;
  }

  // Log densities of the data before each time, if a segment ends there; by number of segments.
  std::vector<std::vector<double>> before() const {
    const std::size_t n = y_.size();
    std::vector result(n + 1, std::vector<double>(n + 1, -kInfinity));
    result[0][0] = 0;
    for (std::size_t end = 1; end <= n; ++end) {
      for (std::size_t begin = 0; begin < end; ++begin) {
        const double gained = (*this)(begin, end).log_density;
        for (std::size_t k = 0; k <= begin; ++k) {
          result[end][k + 1] = log_add_exp(result[end][k + 1], result[begin][k] + gained);
        }
      }
    }
    return result;
  }

  // Of those from each time on, if a segment begins there.
  std::vector<double> after() const {
    std::vector<double> result(y_.size() + 1, -kInfinity);
    result.back() = 0;
    for (std::size_t begin = y_.size(); begin-- > 0;) {
      for (std::size_t end = begin + 1; end <= y_.size(); ++end) {
        result[begin] = log_add_exp(result[begin], (*this)(begin, end).log_density + result[end]);
      }
    }
    return result;
  }

 private:
  Data y_;
};

// The level at time t: a mixture over the segments that may hold it.
Answer level_at(const Segments& segments, std::size_t t, const std::vector<double>& before,
                const std::vector<double>& after) {
  WeightedPoints result;
  for (std::size_t begin = 0; begin <= t; ++begin) {
    for (std::size_t end = t + 1; end < after.size(); ++end) {
      const Segment s = segments(begin, end);
      result.add(before[begin] + s.log_density + after[end], {&s.mean, 1}, {&s.variance, 1});
    }
  }
  return result.answer();
}

}  // namespace

Answer change_points(Data y, const std::vector<std::size_t>& times) {
  const Segments segments(y);
  const auto by_count = segments.before();
  const std::vector<double> after = segments.after();
  std::vector<double> before;
  for (const auto& counts : by_count) before.push_back(log_sum_exp(counts));
  WeightedPoints count;
  for (std::size_t k = 1; k <= y.size(); ++k) {
    const auto number = static_cast<double>(k);
    count.add(by_count[y.size()][k], {&number, 1});
  }
  Answer result = count.answer();
  for (const std::size_t t : times) {
    const Answer level = level_at(segments, t, before, after);
    result.mean.push_back(level.mean[0]);
    result.sd.push_back(level.sd[0]);
  }
  return result;
}

}  // namespace psn::zoo::references
