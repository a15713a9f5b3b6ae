// Inference compilation in a few lines, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "psn/infer/importance.h"
#include "psn/nn/run/network_guide.h"
#include "psn/train/gradient.h"
#include "psn/train/growth.h"
#include "psn/train/trainer.h"

namespace psn {

// Small and quick; a law does not depend on how good a network is.
inline std::shared_ptr<Network> train(Simulator& simulator, Purpose purpose, std::uint64_t traces,
                                      Addressing addressing = Addressing::kInstance,
                                      double missing = 0, std::string_view core = "lstm") {
  Preset chosen = preset("default", purpose);
  chosen.network.core = core;
  chosen.network.core_dim = 40;
  chosen.network.addressing = addressing;
  chosen.training.traces = traces;
  chosen.training.batch_size = purpose == Purpose::kSurrogate ? 8 : 32;
  chosen.training.seed = 3;
  chosen.training.missing = missing;
  auto network = std::make_shared<Network>(chosen.network, 3);
  train_online(simulator, *network, chosen.training);
  return network;
}

inline std::shared_ptr<const CompiledNetwork> compile(std::shared_ptr<const Network> network) {
  return std::make_shared<const CompiledNetwork>(std::move(network));
}

inline EngineOptions engine_options(std::uint64_t samples, std::vector<Query> queries) {
  EngineOptions options;
  options.samples = samples;
  options.queries = std::move(queries);
  options.seed = 5;
  options.parallelism = {64, 2};
  return options;
}

inline Posterior compiled_inference(Simulator& simulator, std::shared_ptr<const Network> network,
                                    const Observations& data, const EngineOptions& options,
                                    double defensive = 0) {
  return importance_sampling(
      simulator, data, options,
      network_guide(compile(std::move(network)), simulator, data, {defensive}));
}

// That each weight is the ratio of what a finished trace has under model and network, by the
// trainer's forward pass: another implementation than the guide's. The network knows all addresses.
inline void expect_weights_are_ratios(const Network& network, const std::vector<Trace>& traces,
                                      double defensive, double tolerance) {
  Network copy = network;
  Growth growth(copy);
  growth.learn_names(traces);
  std::vector<double> log_q;
  Gradient(copy).evaluate(growth.flatten(traces), &log_q);
  for (std::size_t i = 0; i < log_q.size(); ++i) {
    const Trace& trace = traces[i];
    double log_p = 0, log_likelihood = 0;
    for (const Entry& entry : trace.entries) {
      (entry.role == Role::kSample ? log_p : log_likelihood) += entry.log_prob;
    }
    const double mixture =
        defensive > 0 ? log_add_exp(std::log(1 - defensive) + log_q[i], std::log(defensive) + log_p)
                      : log_q[i];
    EXPECT_NEAR(trace.log_weight, log_likelihood + log_p - mixture,
                tolerance * (1 + std::abs(mixture)));
    if (defensive > 0) {  // p / q is bounded
      EXPECT_LE(trace.log_weight - log_likelihood, -std::log(defensive) + 1e-9);
    }
  }
}

}  // namespace psn
