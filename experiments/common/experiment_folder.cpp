#include "experiments/common/experiment_folder.h"

#include <fmt/format.h>

#include <filesystem>

#include "psn/base/error.h"
#include "psn/services/generate.h"

namespace psn {
namespace {

// Tells of traces that are made.
class StatusHost : public services::Host {
 public:
  StatusHost(Monitor& monitor, const ExperimentRequest& request, std::uint64_t total)
      : Host(monitor), request_(request), total_(total) {}
  void work_begins(const services::Work& work) override { label_ = work.label; }
  void work_advances() override {
    if (!request_.status) return;
    request_.status(
        fmt::format("simulating: {} of {} traces of {}", monitor().traces.load(), total_, label_));
  }

 private:
  const ExperimentRequest& request_;
  const std::uint64_t total_;
  std::string label_;
};

}  // namespace

void set_core(const ExperimentRequest& request, NetworkConfig& network) {
  if (!request.core.empty()) network.core = request.core;
  if (request.core_dim > 0) network.core_dim = request.core_dim;
}

ExperimentFolder::ExperimentFolder(const ExperimentRequest& request) : request_(request) {
  if (request.directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(request.directory, error);
  if (error) {
    throw DataError(fmt::format("cannot create '{}': {}", request.directory, error.message()));
  }
  lock_.emplace(path("experiment"));
}

void ExperimentFolder::stop_if_asked() const {
  if (request_.monitor && request_.monitor->stop.load()) throw Interrupted();
}

std::unique_ptr<data::StoreReader> ExperimentFolder::store(const std::string& name,
                                                           Simulator& simulator,
                                                           std::uint64_t traces) const {
  services::GenerationJob job{.store = path(name)};
  job.simulation.model = simulator.name();
  job.simulation.count = traces;
  job.simulation.seed = request_.seed;
  job.simulation.parallelism = {8, 0};
  Monitor unwatched;
  StatusHost host(request_.monitor ? *request_.monitor : unwatched, request_, traces);
  const auto made = services::generate(simulator, job, host);
  if (!made.left.empty()) throw Interrupted();
  return std::make_unique<data::StoreReader>(job.store);
}

TrainedNetwork ExperimentFolder::network(const std::string& name, const TrainingPlan& plan) const {
  return services::train_or_load(lock_ ? path(name + ".psn") : "", plan, request_.status);
}

}  // namespace psn
