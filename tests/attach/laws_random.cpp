// Draws many times from every law of <random> that psn answers, and prints means and deviations.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

template <class Draw>
void law(const char* name, int n, Draw draw) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double x = static_cast<double>(draw());
    sum += x;
    squares += x * x;
  }
  std::printf("%s %.17g %.17g\n", name, sum / n, std::sqrt(squares / n - sum / n * (sum / n)));
}

template <class Law, class Generator>
void law_of(const char* name, int n, Law distribution, Generator& g) {
  law(name, n, [&] { return distribution(g); });
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 100;
  std::mt19937 g(5);
  std::mt19937_64 wide(5);
  std::minstd_rand small;
  std::default_random_engine usual(3);
  std::mt19937 other = g;  // copies go on as the original does
  law_of("normal", n, std::normal_distribution<double>(1, 2), g);
  law_of("normal_float", n, std::normal_distribution<float>(1, 2), wide);
  law_of("uniform", n, std::uniform_real_distribution<>(-1, 3), small);
  law_of("uniform_int", n, std::uniform_int_distribution<>(1, 6), usual);
  law_of("uniform_int_wide", n, std::uniform_int_distribution<long>(-5000, 5000), g);
  law_of("lognormal", n, std::lognormal_distribution<>(0.3, 0.4), g);
  law_of("exponential", n, std::exponential_distribution<>(2), g);
  law_of("gamma", n, std::gamma_distribution<>(2.5, 3), g);
  law_of("chi_squared", n, std::chi_squared_distribution<>(5), g);
  law_of("weibull", n, std::weibull_distribution<>(3, 2), g);
  law_of("student_t", n, std::student_t_distribution<>(9), g);
  law_of("extreme_value", n, std::extreme_value_distribution<>(1, 2), g);
  std::cauchy_distribution<> cauchy(1, 2);
  law("cauchy", n, [&] { return std::atan(cauchy(g)); });
  law_of("poisson", n, std::poisson_distribution<>(4), g);
  law_of("binomial", n, std::binomial_distribution<>(20, 0.3), g);
  law_of("geometric", n, std::geometric_distribution<>(0.3), g);
  law_of("negative_binomial", n, std::negative_binomial_distribution<>(3, 0.4), g);
  law_of("bernoulli", n, std::bernoulli_distribution(0.3), g);
  law_of("discrete", n, std::discrete_distribution<>({1, 0.5, 3, 0}), g);
  law("generator", n, [&] { return other() / 4294967296.0; });
  law("canonical", n, [&] { return std::generate_canonical<double, 53>(wide); });
  std::poisson_distribution<> counts;
  law("parameters", n, [&] { return counts(g, std::poisson_distribution<>::param_type(2.5)); });
  std::vector<int> cards{0, 1, 2, 3};
  law("shuffle", n, [&] {
    std::shuffle(cards.begin(), cards.end(), g);
    return cards[0];
  });
}
