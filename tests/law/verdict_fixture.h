// Programs and networks, sound ones and broken ones, for tests of verdicts.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiments/control_flow/control_flow.h"
#include "psn/core/in_process.h"
#include "psn/nn/network_file.h"
#include "psn/services/calibrate.h"
#include "psn/services/criticise.h"
#include "psn/services/validate.h"
#include "tests/law/inference_fixture.h"

namespace psn::test {

// mu ~ N(0, 2), six measurements; `noise` and `shift` of them.
inline Model measurements(double noise = 1, double shift = 0) {
  return {"measurements", [=](Context& ctx) {
            const double mu = ctx.sample(Normal(0, 2), {.name = "mu"});
            for (std::int64_t i = 0; i < 6; ++i) {
              ctx.observe(Normal(mu + shift, noise), {.name = "y", .index = i});
            }
          }};
}

class VerdictHost : public services::Host {
 public:
  std::vector<Model> models() const override { return {control_flow::model(), measurements()}; }
};

class VerdictTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("psn_verdict_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string saved(const std::shared_ptr<Network>& network) const {
    const std::string path = (folder_ / "n.psn").string();
    save_network(path, {.network = network, .history = "[]"});
    return path;
  }

  static std::shared_ptr<Network> surrogate(std::uint64_t traces) {
    InProcess simulator(control_flow::model());
    return train(simulator, Purpose::kSurrogate, traces);
  }
  static std::shared_ptr<Network> inference_network(const Model& model, std::uint64_t traces) {
    InProcess simulator(model);
    return train(simulator, Purpose::kInference, traces);
  }

  services::ValidationResult validated(const std::shared_ptr<Network>& network,
                                       std::uint64_t seed = 1) {
    services::ValidationJob job;
    job.simulation.model = "control-flow";
    job.simulation.count = 4000;
    job.simulation.seed = seed;
    job.surrogate = saved(network);
    return services::validate(job, host_);
  }

  services::CalibrationResult calibrated(const std::shared_ptr<Network>& network,
                                         services::Engine engine, std::uint64_t seed = 1) {
    services::CalibrationJob job;
    job.simulation.model = "measurements";
    job.simulation.count = 200;
    job.simulation.seed = seed;
    job.datasets = 200;
    job.engine = engine;
    job.network = saved(network);
    return services::calibrate(job, host_);
  }

  services::CriticismResult criticised(const std::vector<double>& data, std::uint64_t seed = 1) {
    services::CriticismJob job;
    job.simulation.model = "measurements";
    job.simulation.count = 300;
    job.simulation.seed = seed;
    job.replicates = 199;
    job.observations.set("y", Value(data));
    return services::criticise(job, host_);
  }

  static std::vector<double> data_of(double noise, std::uint64_t seed) {
    Rng rng(seed, 0, 0x64617461);
    const double mu = 2 * rng.normal();
    std::vector<double> y(6);
    for (double& x : y) x = mu + noise * rng.normal();
    return y;
  }

  VerdictHost host_;
  std::filesystem::path folder_;
};

}  // namespace psn::test
