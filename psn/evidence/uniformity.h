// Are these numbers uniform on (0, 1)? Whatever should be right by a probability ends in this
// question: places of true values among draws of a posterior, choices of a simulator by a
// surrogate's distribution functions.
//
// The test is by simultaneous bands of the empirical distribution function F_n at fixed places z_k
// (Saeilynoja, Buerkner and Vehtari 2022): at each place the count of numbers up to there is
// binomial, its two tails give a probability, and the smallest of all places is the statistic. Its
// own distribution is computed, not simulated: counts at ascending places are a Markov chain, and
// that of a Poisson process given its total.
//
// With a tolerance t the question is whether |F(z) - z| <= t at all places, for whatever reason.
// F_n is then stochastically between those of min(1, z + t) and max(0, z - t), so that either band
// taken by itself holds, and both together by Bonferroni: p-values are valid (never too small) for
// all such F.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace psn::evidence {

inline constexpr std::size_t kPlaces = 99;        // z_k = k / 100
inline constexpr std::size_t kLeastUniform = 20;  // fewer numbers are not judged

// For samples of one size. Immutable; safe to use from several threads.
class UniformBand {
 public:
  UniformBand(std::size_t count, double tolerance);

  std::size_t count() const { return count_; }
  // Of the hypothesis, by a sample of count() numbers.
  double p_value(std::span<const double> sample) const;
  // What F_n(z_k) - z_k stays below or at, at all places, with at least this probability of
  // leaving on either side together; the lower limits are these turned round.
  std::vector<double> upper_limits(double false_alarm) const;

  // The probability that somewhere the count is one that is reached with a probability of at most
  // `gamma` at its place alone; upper side only, at the edge of the tolerance.
  double crossing(double gamma) const;

 private:
  struct Tail {              // of the count at one place
    std::size_t first = 0;   // P(count >= first + i) = at[i]; 1 below, negligible above
    std::vector<double> at;  // empty: the count is bound by nothing
  };
  struct Steps {  // Poisson probabilities of what a step adds
    std::size_t first = 0;
    std::vector<double> at;
  };
  static Steps poisson(double mean);
  std::size_t critical(const Tail& tail, double gamma) const;
  double smallest_tail(std::span<const double> ascending, bool mirrored) const;

  std::size_t count_;
  double tolerance_;
  std::vector<Tail> tails_;
  Steps first_step_, step_;
};

// A sample with its test, ready to be drawn.
struct Curve {
  std::size_t count = 0;
  std::vector<double> z, difference, low, high;  // all of one length; empty: not kept
  double p_value = 1, adjusted_p_value = 1;      // the latter: among all tests of a verdict
  bool outside = false;                          // does it leave the band?
};

// Bands by size, made once each. A sample is cut to a size from a short list (a loss of at most a
// tenth), so that there are few of them. Not thread-safe.
class UniformTests {
 public:
  explicit UniformTests(double tolerance, std::size_t most = 5000)
      : tolerance_(tolerance), most_(most) {}

  // The largest size that is not above this one; 0: too few to judge.
  std::size_t usable(std::size_t count) const;
  // Without a band; the sample's first numbers count. One that is too small has p-value 1.
  Curve test(std::span<const double> sample);
  // Adds it. The whole curve stays within unless something is wrong, with this exception.
  void add_band(Curve& curve, double false_alarm);

 private:
  const UniformBand& band(std::size_t count);

  double tolerance_;
  std::size_t most_;
  std::map<std::size_t, UniformBand> bands_;
  std::map<std::pair<std::size_t, double>, std::vector<double>> limits_;
};

}  // namespace psn::evidence
