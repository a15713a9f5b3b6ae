#include "psn/train/validation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "psn/nn/observation.h"
#include "psn/train/gradient.h"
#include "psn/train/growth.h"
#include "psn/train/parts.h"

namespace psn {

bool learned_nothing(const Validation& validation) {
  constexpr double kLeast = 0.02;
  return !(validation.loss < validation.prior_loss - kLeast);
}

bool below_linear(const Validation& validation) {
  constexpr double kLeast = 0.05;
  return validation.linear_loss &&
         validation.loss > *validation.linear_loss + kLeast + 3 * validation.standard_error;
}

namespace {

// The share of runs whose observations count as unlike those of the training.
constexpr double kRemote = 0.001;

double remoteness_of(const Network& network, const Trace& trace) {
  std::vector<Observed> observed;
  for (const Entry& entry : trace.entries) {
    if (entry.role != Role::kObserve) continue;
    const auto node = network.find(*entry.address, Role::kObserve);
    if (node) observed.push_back({*node, entry.value});
  }
  return remoteness(network, observed);
}

double remote_observation(const Network& network, const std::vector<Trace>& traces) {
  std::vector<double> all;
  for (const Trace& trace : traces) all.push_back(remoteness_of(network, trace));
  const auto beyond = static_cast<std::ptrdiff_t>(kRemote * static_cast<double>(all.size()));
  std::nth_element(all.begin(), all.end() - 1 - beyond, all.end());
  return *(all.end() - 1 - beyond);
}

// A surrogate's traces have a density of what is computed, which counts in no other.
double log_p_of(const Trace& trace) {
  double log_p = trace.log_joint + trace.log_transitions();
  for (const Entry& entry : trace.entries) {
    if (is_computed(entry)) log_p -= entry.log_prob;
  }
  return log_p;
}

}  // namespace

Validation validate(const Network& network, const std::vector<Trace>& traces,
                    std::size_t memory_mb) {
  Network copy = network;
  Growth growth(copy);
  Gradient gradient(copy);
  Validation result;
  constexpr std::size_t kChunk = 512;
  double sum = 0, squares = 0, log_sum = 0, prior_sum = 0;
  std::vector<double> log_s;
  for (std::size_t first = 0; first < traces.size(); first += kChunk) {
    const std::span chunk(traces.data() + first, std::min(kChunk, traces.size() - first));
    growth.learn_names(chunk);
    result.unseen += growth.unseen();
    each_part(copy, growth, chunk, memory_mb, [&](const Batch& batch, std::size_t begin) {
      gradient.evaluate(batch, &log_s);
      prior_sum = std::accumulate(batch.log_p.begin(), batch.log_p.end(), prior_sum);
      for (std::size_t i = 0; i < log_s.size(); ++i) {
        const double log_p = network.infers() ? 0 : log_p_of(chunk[begin + i]);
        const double difference = log_p - log_s[i];
        log_sum += log_s[i];
        sum += difference;
        squares += difference * difference;
      }
      return true;
    });
  }
  const auto n = static_cast<double>(traces.size());
  result.traces = traces.size();
  if (traces.empty()) return result;
  const double mean = sum / n;
  result.loss = -log_sum / n;
  result.kl = network.infers() ? 0 : mean;
  result.prior_loss = network.infers() ? -prior_sum / n : 0;
  if (network.infers()) {
    result.remote_observation = remote_observation(network, traces);
    result.course = course_of(traces);
  }
  result.standard_error = std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
  return result;
}

}  // namespace psn
