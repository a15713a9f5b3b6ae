// Runs of a model: simulations, predictions, graphs.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/report/figures/graph.h"
#include "psn/services/output_directory.h"
#include "psn/services/reporting/columns.h"
#include "psn/services/reporting/parts.h"

namespace psn::services {
namespace {

const std::vector<std::pair<const char*, const char*>> kRunFacts{
    {"traces", "traces"},
    {"samples", "samples"},
    {"draws", "draws of the posterior"},
    {"new_latents", "latents drawn anew"},
    {"mean_length", "choices in a trace"},
    {"max_length", "at most"},
    {"addresses", "addresses"},
    {"traces_per_second", "traces per second"},
    {"seed", "seed"}};

// Of the first trace, as psn simulate writes them.
std::vector<Figure> kept_maps(const ResultFolder& folder) {
  std::vector<Figure> figures;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".vl.json")) continue;
    const std::string variable = name.substr(0, name.size() - 8);
    Json map = folder.json(name);
    map["width"] = "container";
    map["usermeta"] = {{"renderer", "canvas"}};
    map["encoding"]["color"]["scale"].erase("scheme");
    map.erase("config");
    if (map["encoding"].contains("column")) map["encoding"].erase("column");
    figures.push_back({.name = figure_name(variable + "-map"),
                       .title = variable + ", in the first trace",
                       .reading = "Rows run to the right and columns upwards; the colour is the "
                                  "value. Neighbours of like colour belong together.",
                       .content = map.dump()});
  }
  return figures;
}

// The first numbers of what was observed, by the names that predictions have.
std::map<std::string, double> observed_numbers(const ResultFolder& posterior) {
  std::map<std::string, double> marks;
  if (!posterior.has("observations.json")) return marks;
  const Json observations = posterior.json("observations.json");
  for (const auto& [name, value] : observations.items()) {
    if (value.is_number()) marks[name] = value.get<double>();
    if (!value.is_array()) continue;
    for (std::size_t k = 0; k < value.size(); ++k) {
      if (value[k].is_number()) marks[fmt::format("{}[{}]", name, k)] = value[k].get<double>();
    }
  }
  return marks;
}

// As it was named when the predictions were made, or beside them.
ResultFolder posterior_of(const ResultFolder& folder, const std::string& named) {
  ResultFolder as_named(named);
  if (as_named.has("observations.json")) return as_named;
  const auto beside =
      std::filesystem::path(folder.path()).parent_path() / std::filesystem::path(named).filename();
  return ResultFolder(beside.string());
}

}  // namespace

Part simulation_part(const ResultFolder& folder) {
  const Json summary = folder.json("summary.json");
  Part part{.kind = "simulation",
            .title = "Simulation: " + text_at(summary, "model"),
            .path = folder.path()};
  part.sections.push_back({.title = "The runs",
                           .facts = facts_of(summary, kRunFacts),
                           .warnings = warnings_of(summary)});
  Section section{.title = "What the program draws"};
  const Posterior samples = Posterior::load(folder.file(kSamplesFile));
  section.figures = column_figures(samples, {.what = "model"}, section.text);
  part.sections.push_back(std::move(section));
  auto maps = field_figures(samples);
  if (maps.empty()) maps = kept_maps(folder);
  if (!maps.empty()) part.sections.push_back({.title = "Arrays", .figures = std::move(maps)});
  add_traces(folder, part);
  return part;
}

Part prediction_part(const ResultFolder& folder) {
  const Json summary = folder.json("summary.json");
  Part part{.kind = "prediction",
            .title = "Prediction: " + text_at(summary, "model"),
            .path = folder.path()};
  part.sections.push_back({.title = "The runs",
                           .facts = facts_of(summary, kRunFacts),
                           .warnings = warnings_of(summary)});
  Section section{.title = "What would be observed again"};
  if (summary.contains("predictive")) {
    section.tables.push_back(summary_table("Means and quantiles", summary["predictive"]));
  }
  const Posterior samples = Posterior::load(folder.file("predictive.safetensors"));
  section.figures = column_figures(
      samples,
      {.what = "prediction",
       .mark_name = "observed",
       .marks = observed_numbers(posterior_of(folder, text_at(summary, "posterior")))},
      section.text);
  auto fields = field_figures(samples);
  std::move(fields.begin(), fields.end(), std::back_inserter(section.figures));
  part.sections.push_back(std::move(section));
  return part;
}

Part graph_part(const ResultFolder& folder) {
  const Json json = folder.json("transitions.json");
  Part part{.kind = "graph", .title = "Address transitions", .path = folder.path()};
  GraphFigure figure{.sides = {"program"}};
  for (const Json& edge : json.at("transitions")) {
    figure.edges.push_back({edge.at("from"), edge.at("to"), {number_at(edge, "probability")}});
  }
  part.sections.push_back({.title = "What follows what",
                           .facts = facts_of(json, {{"traces", "traces"}}),
                           .figures = {graph_figure(figure)}});
  return part;
}

}  // namespace psn::services
