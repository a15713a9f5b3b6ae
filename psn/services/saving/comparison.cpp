#include "psn/services/saving/results.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "psn/services/saving/parts.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;

Json transition_json(const TransitionDeviation& t) {
  return {{"from", t.from},
          {"to", t.to},
          {"departures", t.departures},
          {"probability", t.probability},
          {"frequency", t.frequency},
          {"deviation", t.difference()},
          {"standard_error", t.standard_error()}};
}

Json addresses_json(const ConditionalDeviation& conditional) {
  Json list = Json::array();
  for (const AddressDeviation& a : conditional.addresses) {
    list.push_back({{"address", a.address},
                    {"visits", a.visits},
                    {"value_kl", a.value},
                    {"transition_kl", a.transition},
                    {"closed_form", a.closed_form}});
  }
  return list;
}

Json bin_json(const Bin& bin) {
  return {{"count", bin.count},
          {"by_mean", bin.by_mean},
          {"mean", bin.mean},
          {"standard_error", bin.standard_error}};
}

Json means_json(const BinnedComparison& means, const ComparisonJob& job) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < means.simulator.size(); ++i) {
    const Bin &real = means.simulator[i], &learned = means.surrogate[i];
    rows.push_back({{"low", real.low},
                    {"high", real.high},
                    {"simulator", bin_json(real)},
                    {"surrogate", bin_json(learned)},
                    {"difference", learned.mean - real.mean}});
  }
  return {{"variable", job.bin}, {"by", job.by}, {"bins", rows}};
}

}  // namespace

bool is_common(const TransitionDeviation& t) {
  return std::max(t.probability[0], t.probability[1]) > 0.01;
}

Json json_of(const ComparisonResult& result, const ComparisonJob& job) {
  const ConditionalDeviation& conditional = result.conditional;
  Json common = Json::array();
  for (const TransitionDeviation& t : result.transitions) {
    if (is_common(t)) common.push_back(transition_json(t));
  }
  Json json{
      {"kind", "comparison"},
      {"model", job.simulation.model},
      {"surrogate", job.surrogate},
      {"seed", job.simulation.seed},
      {"traces", conditional.traces},
      {"unseen_traces", conditional.unseen},
      {"kl_nats_per_trace", conditional.kl},
      {"kl_standard_error", conditional.standard_error},
      {"kl_of_values", conditional.values},
      {"kl_of_transitions", conditional.transitions},
      {"unknown_mass", conditional.unknown_mass},
      {"max_transition_deviation", result.transition.value},
      {"max_transition_deviation_floor", result.transition.floor},
      {"max_transition_frequency_deviation", result.frequency.value},
      {"max_transition_frequency_deviation_floor", result.frequency.floor},
      {"min_departures", job.min_count},
      {"path_total_variation", result.path_total_variation.value},
      {"path_total_variation_floor", result.path_total_variation.floor},
  };
  if (!result.transitions.empty()) {
    json["worst_transition"] = transition_json(result.transitions.front());
  }
  json["transitions_above_1_percent"] = common;
  json["addresses"] = addresses_json(conditional);
  if (result.conditional_means)
    json["conditional_means"] = means_json(*result.conditional_means, job);
  add_failures(result.failures, json);
  return json;
}

void save(const ComparisonResult& result, const ComparisonJob& job, const std::string& config,
          OutputDirectory& out) {
  out.write(kConfigFile, config);
  out.write(kTracesFile,
            traces_json({{"simulator", result.simulated}, {"surrogate", result.learned}}));
  out.write("comparison.json", json_of(result, job).dump(2) + "\n");
  out.publish();
}

}  // namespace psn::services
