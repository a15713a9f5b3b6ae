// Programs that know nothing of psn, and what the posteriors of their parts are.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "psn/core/observations.h"
#include "tests/law/exact_answers.h"

namespace psn::test {

inline std::vector<std::string> twins() {
  std::vector<std::string> programs{PSN_TWIN_LIBC, PSN_TWIN_FORTRAN, PSN_TWIN_RANDOM};
  if (*PSN_TWIN_GSL) programs.emplace_back(PSN_TWIN_GSL);
  return programs;
}

inline std::string settings_of(const std::string& part) {
  return fmt::format("{}/tests/attach/{}.toml", PSN_SOURCE, part);
}

// Of one variable.
struct TwinAnswer {
  std::string name;
  double mean, sd;
};

struct TwinPart {
  std::string name;
  Observations data;
  std::string options;  // the same for the command line
  std::vector<TwinAnswer> answers;
};

// From weights of 0, 1, 2, ...
inline TwinAnswer answer_from(const std::string& name, const std::vector<double>& weights) {
  double total = 0, first = 0, second = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto value = static_cast<double>(k);
    total += weights[k];
    first += weights[k] * value;
    second += weights[k] * value * value;
  }
  const double mean = first / total;
  return {name, mean, std::sqrt(second / total - mean * mean)};
}

// By enumeration of all ways through four steps.
inline std::vector<TwinAnswer> hmm_answers(const std::vector<double>& data) {
  const reference::HmmParameters p;
  std::vector<std::vector<double>> weights(4, std::vector<double>(3));
  for (int way = 0; way < 81; ++way) {
    const int states[] = {way % 3, way / 3 % 3, way / 9 % 3, way / 27};
    double weight = 1;
    for (int t = 0; t < 4; ++t) {
      weight *= t == 0 ? p.initial[states[0]] : p.transition[states[t - 1]][states[t]];
      weight *= std::exp(
          Distribution(Normal(p.mean[states[t]], 1)).log_prob(data[static_cast<std::size_t>(t)]));
    }
    for (std::size_t t = 0; t < 4; ++t) weights[t][static_cast<std::size_t>(states[t])] += weight;
  }
  std::vector<TwinAnswer> answers;
  for (std::size_t t = 0; t < 4; ++t) {
    answers.push_back(answer_from(fmt::format("x_{}", t), weights[t]));
  }
  return answers;
}

// The number of tries is geometric, and measured with an error of one.
inline TwinAnswer loop_answer(double measured) {
  std::vector<double> weights(100);
  for (std::size_t n = 1; n < weights.size(); ++n) {
    const double d = static_cast<double>(n) - measured;
    weights[n] = std::pow(0.6, static_cast<double>(n)) * std::exp(-0.5 * d * d);
  }
  return answer_from("tries", weights);
}

inline std::vector<TwinPart> twin_parts() {
  const GaussianAnswer gaussian = gaussian_answer(2, 3);
  const BranchingAnswer branching = branching_answer();
  return {{"gaussian",
           {{"obs0", Value(2.0)}, {"obs1", Value(3.0)}},
           "--observe obs0=2 --observe obs1=3",
           {{"mu", gaussian.mean, gaussian.sd}}},
          {"hmm",
           {{"obs", Value{-0.8, 0.4, 1.1, 2.4}}},
           "--observe obs=[-0.8,0.4,1.1,2.4]",
           hmm_answers({-0.8, 0.4, 1.1, 2.4})},
          {"branching",
           {{"obs", Value(6.0)}},
           "--observe obs=6",
           {{"count", branching.mean, branching.sd}}},
          {"loop", {{"y", Value(3.5)}}, "--observe y=3.5", {loop_answer(3.5)}}};
}

}  // namespace psn::test
