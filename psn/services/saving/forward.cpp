// Of runs of a model: simulations, predictions, graphs.
#include <map>
#include <nlohmann/json.hpp>

#include "psn/report/heat_map.h"
#include "psn/services/saving/parts.h"
#include "psn/services/saving/results.h"

namespace psn::services {
namespace {

// Of the trace's matrices, by file name.
std::map<std::string, std::string> heat_maps(const TraceRecord& trace) {
  std::map<std::string, std::string> maps;
  for (const TraceRecord::Step& step : trace.steps) {
    if (step.value.rank() != 2) continue;
    const auto values = step.value.components();
    maps[step.name + ".vl.json"] =
        vega_lite({.panels = {{step.name, {values.begin(), values.end()}}},
                   .rows = {"row"},
                   .columns = {"column"},
                   .width = step.value.last_extent()});
  }
  return maps;
}

}  // namespace

nlohmann::ordered_json json_of(const SimulationResult& result, const SimulationJob& job) {
  nlohmann::ordered_json json{{"kind", "simulation"},
                              {"model", result.model},
                              {"seed", job.simulation.seed},
                              {"traces", job.simulation.count},
                              {"mean_length", result.mean_length},
                              {"max_length", result.longest},
                              {"addresses", result.addresses},
                              {"traces_per_second", result.traces_per_second}};
  add_report(result.report, json);
  return json;
}

void save(const SimulationResult& result, const SimulationJob& job, const std::string& config,
          OutputDirectory& out) {
  result.samples.save(out.file(kSamplesFile));
  result.samples.write_csv(out.file("samples.csv"));
  out.write(kTracesFile, traces_json({{result.model, result.records}}));
  for (const auto& [name, map] : heat_maps(result.records.at(0))) out.write(name, map);
  save_with(json_of(result, job), config, out);
}

nlohmann::ordered_json json_of(const PredictionResult& result, const PredictionJob& job) {
  nlohmann::ordered_json json{{"kind", "prediction"},
                              {"model", result.model},
                              {"posterior", job.posterior},
                              {"seed", job.simulation.seed},
                              {"samples", result.samples.size()},
                              {"draws", result.draws},
                              {"new_latents", result.new_latents},
                              {"predictive", columns_json(result.columns)},
                              {"traces_per_second", result.traces_per_second}};
  add_learned_tags(result.learned, json);
  add_report(result.report, json);
  return json;
}

void save(const PredictionResult& result, const PredictionJob& job, const std::string& config,
          OutputDirectory& out) {
  result.samples.save(out.file("predictive.safetensors"));
  result.samples.write_csv(out.file("predictive.csv"));
  save_with(json_of(result, job), config, out);
}

nlohmann::ordered_json json_of(const GraphResult& result, const GraphJob& /*job*/) {
  nlohmann::ordered_json json{{"kind", "graph"}, {"traces", result.traces}};
  auto& list = json["transitions"] = nlohmann::ordered_json::array();
  for (const TransitionGraph::Edge& edge : result.edges) {
    list.push_back({{"from", edge.from},
                    {"to", edge.to},
                    {"count", edge.count},
                    {"probability", edge.probability}});
  }
  if (!result.loops.empty()) {
    auto& loops = json["rejection_loops"] = nlohmann::ordered_json::array();
    for (const RejectionLoop& loop : result.loops) {
      loops.push_back(
          {{"choices", loop.choices}, {"rounds", loop.rounds}, {"traces", loop.traces}});
    }
  }
  add_report(result.report, json);
  return json;
}

void save(const GraphResult& result, const GraphJob& job, const std::string& config,
          OutputDirectory& out) {
  out.write(kConfigFile, config);
  out.write("transitions.dot", to_dot(result.edges, job.min_probability));
  out.write("transitions.json", json_of(result, job).dump(2) + "\n");
  out.publish();
}

}  // namespace psn::services
