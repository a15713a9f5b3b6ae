#include "experiments/composite_cure/field.h"

#include <algorithm>
#include <cmath>

#include "experiments/composite_cure/composite_cure.h"
#include "psn/base/error.h"
#include "psn/nn/run/evaluate.h"

namespace psn::composite_cure {
namespace {

constexpr std::size_t kSamplesKept = 8;

class Comparison : public Follower {
 public:
  explicit Comparison(std::size_t traces)
      : result{.squared = std::vector<double>(kTimes * kDepths),
               .samples = std::vector<FieldError::Sample>(std::min(kSamplesKept, traces))} {}

  FieldError result;

  void transition(std::size_t, NodeId, std::span<const float>, std::size_t,
                  const Indices&) override {}

  void choice(std::size_t trace, const Entry& entry, const Distribution& distribution) override {
    const std::string& name = entry.address->variable->name;
    if (name != "latent_temps" && name != "temps_bottom") return;
    const Value expected = entry.distribution->mean(), mean = distribution.mean();
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double square = (mean[i] - expected[i]) * (mean[i] - expected[i]);
      if (name == "latent_temps") {
        result.squared[i] += square;
      } else {
        result.sensor_rms += square;
      }
    }
    if (trace < result.samples.size() && name == "latent_temps") {
      result.samples[trace] = {{expected.begin(), expected.end()}, {mean.begin(), mean.end()}};
    }
  }
};

}  // namespace

FieldError field_error(std::shared_ptr<const CompiledNetwork> network,
                       std::span<const Trace> traces) {
  Comparison comparison(traces.size());
  if (!follow(std::move(network), traces, comparison).empty()) {
    throw ModelError("the surrogate does not know the addresses of composite-cure");
  }
  FieldError result = std::move(comparison.result);
  const auto count = static_cast<double>(traces.size());
  for (double& square : result.squared) {
    square /= count;
    result.rms += square / static_cast<double>(result.squared.size());
    result.largest = std::max(result.largest, square);
  }
  result.rms = std::sqrt(result.rms);
  result.largest = std::sqrt(result.largest);
  result.sensor_rms = std::sqrt(result.sensor_rms / count / static_cast<double>(kSamples));
  return result;
}

}  // namespace psn::composite_cure
