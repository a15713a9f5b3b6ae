#include "psn/services/trace_record.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "psn/base/numerics.h"
#include "psn/nn/run/evaluate.h"

namespace psn::services {
namespace {

class Rewriter : public Follower {
 public:
  Rewriter(std::span<const Trace> traces, std::vector<TraceRecord>& records)
      : traces_(traces), records_(records), coming_(traces.size(), 1) {}

  void transition(std::size_t trace, NodeId from, std::span<const float> logits, std::size_t row,
                  const Indices&) override {
    const std::vector<double> wide(logits.begin(), logits.end());
    const double log_s = wide[row] - log_sum_exp(wide);
    TraceRecord& record = records_[trace];
    record.log_joint = (from == Network::kBegin ? 0 : record.log_joint) + log_s;
    coming_[trace] *= std::exp(log_s);
  }

  void choice(std::size_t trace, const Entry& entry, const Distribution& distribution) override {
    TraceRecord& record = records_[trace];
    auto& step = record.steps[static_cast<std::size_t>(&entry - traces_[trace].entries.data())];
    step.distribution = distribution.text();
    step.transition = std::exchange(coming_[trace], 1);
    record.log_joint += distribution.log_prob(entry.value);
  }

 private:
  std::span<const Trace> traces_;
  std::vector<TraceRecord>& records_;
  std::vector<double> coming_;  // probability of it since the last choice
};

}  // namespace

TraceRecord record_of(const Trace& trace) {
  TraceRecord record{.log_joint = trace.log_joint};
  for (const Entry& entry : trace.entries) {
    record.steps.push_back({entry.role, entry.address->text, entry.address->variable->name,
                            entry.value, entry.distribution ? entry.distribution->text() : "",
                            entry.given});
  }
  return record;
}

std::vector<TraceRecord> records_under(std::shared_ptr<const CompiledNetwork> surrogate,
                                       std::span<const Trace> traces) {
  std::vector<TraceRecord> records;
  for (const Trace& trace : traces) {
    TraceRecord& record = records.emplace_back(record_of(trace));
    record.log_joint = -kInfinity;
    for (TraceRecord::Step& step : record.steps) step.distribution.clear();
  }
  Rewriter rewriter(traces, records);
  follow(std::move(surrogate), traces, rewriter);
  return records;
}

std::string traces_json(
    const std::vector<std::pair<std::string, std::vector<TraceRecord>>>& sides) {
  using Json = nlohmann::ordered_json;
  constexpr std::size_t kMostSteps = 2000, kMostText = 200;  // nobody reads more of one trace
  Json json{{"sides", Json::array()}};
  for (const auto& [name, records] : sides) {
    Json traces = Json::array();
    for (const TraceRecord& record : records) {
      Json steps = Json::array();
      for (const TraceRecord::Step& step : record.steps) {
        if (steps.size() == kMostSteps) break;
        std::string value = step.value.text();
        if (value.size() > kMostText) value = value.substr(0, kMostText) + " ...";
        steps.push_back({{"role", step.given ? "given" : role_name(step.role)},
                         {"address", step.address},
                         {"value", value},
                         {"distribution", step.distribution.substr(0, kMostText)}});
        if (step.transition) steps.back()["transition"] = fmt::format("{:.4f}", *step.transition);
      }
      traces.push_back({{"log_p", fmt::format("{:.6g}", record.log_joint)}, {"steps", steps}});
    }
    json["sides"].push_back({{"name", name}, {"traces", traces}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace psn::services
