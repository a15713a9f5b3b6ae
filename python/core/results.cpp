// What services answer: their structs of results, as Python's objects. Columns are arrays that
// share their memory with the posterior.
#include <memory>

#include "psn/services/budget.h"
#include "psn/services/compare.h"
#include "psn/services/engine_names.h"
#include "psn/services/generate.h"
#include "psn/services/graph.h"
#include "psn/services/predict.h"
#include "psn/services/simulate.h"
#include "psn/services/stores.h"
#include "psn/services/train.h"
#include "psn/services/warnings.h"
#include "python/core/services.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace services;      // NOLINT(google-build-using-namespace)
using namespace py::literals;  // NOLINT(google-build-using-namespace)

py::array column_of(const py::object& self, const std::string& name) {
  const Column& column = self.cast<const Posterior&>().column(name);
  Shape shape{
      static_cast<std::int64_t>(column.data.size() / std::max<std::size_t>(1, column.width()))};
  shape.insert(shape.end(), column.shape.begin(), column.shape.end());
  return view_of(column.data, shape, self);
}

py::array log_weights_of(const py::object& self) {
  const auto& weights = self.cast<const Posterior&>().log_weights();
  return view_of(weights, {static_cast<std::int64_t>(weights.size())}, self);
}

py::array weights_of(const Posterior& posterior) {
  const std::vector<double> weights = posterior.weights();
  return py::array_t<double>(static_cast<py::ssize_t>(weights.size()), weights.data());
}

std::vector<std::size_t> resampled_rows(const Posterior& posterior, std::size_t count,
                                        std::uint64_t seed) {
  Rng rng(seed, 0);
  return posterior.resampled_rows(count, rng);
}

void bind_posterior(py::module_& module) {
  py::class_<Posterior>(module, "Posterior")
      .def("__len__", &Posterior::size)
      .def_property_readonly("chains", &Posterior::chains)
      .def_property_readonly("names", &Posterior::names)
      .def_property_readonly("log_weights", log_weights_of)
      .def_property_readonly("weights", weights_of)
      .def_property_readonly("effective_sample_size", &Posterior::effective_sample_size)
      .def_property_readonly("log_evidence", &Posterior::log_evidence)
      .def("column", column_of, "name"_a)
      .def("mean", &Posterior::mean, "name"_a, "component"_a = 0)
      .def("variance", &Posterior::variance, "name"_a, "component"_a = 0)
      .def("quantile", &Posterior::quantile, "name"_a, "p"_a, "component"_a = 0)
      .def("probability", &Posterior::probability, "name"_a, "component"_a = 0)
      .def("resampled_rows", resampled_rows, "count"_a, "seed"_a = 0)
      .def("save", &Posterior::save, "path"_a)
      .def_static("load", &Posterior::load, "path"_a)
      .def("write_csv", &Posterior::write_csv, "path"_a)
      .def(
          "write_npz",
          [](const Posterior& posterior, const std::string& path) {
            services::write_npz(posterior, path, true);
          },
          "path"_a);
}

void bind_summaries(py::module_& module) {
  py::class_<ColumnSummary>(module, "ColumnSummary")
      .def_readonly("name", &ColumnSummary::name)
      .def_readonly("scalar", &ColumnSummary::scalar)
      .def_readonly("mean", &ColumnSummary::mean)
      .def_readonly("sd", &ColumnSummary::sd)
      .def_readonly("quantiles", &ColumnSummary::quantiles)
      .def_readonly("probability", &ColumnSummary::probability)
      .def_readonly("ess", &ColumnSummary::ess)
      .def_readonly("rhat", &ColumnSummary::rhat);
  py::class_<PosteriorSummary>(module, "PosteriorSummary")
      .def_readonly("samples", &PosteriorSummary::samples)
      .def_readonly("columns", &PosteriorSummary::columns)
      .def_readonly("ess", &PosteriorSummary::ess)
      .def_readonly("approximate", &PosteriorSummary::approximate)
      .def_readonly("chains", &PosteriorSummary::chains)
      .def_readonly("rhat", &PosteriorSummary::rhat)
      .def_readonly("acceptance", &PosteriorSummary::acceptance)
      .def_readonly("log_evidence", &PosteriorSummary::log_evidence)
      .def_readonly("khat", &PosteriorSummary::khat)
      .def_readonly("khat_threshold", &PosteriorSummary::khat_threshold)
      .def_readonly("traces_per_second", &PosteriorSummary::traces_per_second);
  py::class_<ObservationUse>(module, "ObservationUse")
      .def_readonly("name", &ObservationUse::name)
      .def_readonly("values", &ObservationUse::values)
      .def_readonly("used", &ObservationUse::used)
      .def_readonly("unused", &ObservationUse::unused)
      .def_readonly("partly_used", &ObservationUse::partly_used)
      .def_readonly("used_twice", &ObservationUse::used_twice);
  py::class_<ObservationsUse>(module, "ObservationsUse")
      .def_readonly("observations", &ObservationsUse::observations)
      .def_readonly("prior", &ObservationsUse::prior);
}

void bind_reports(py::module_& module) {
  py::class_<psn::Failures>(module, "Failures")
      .def_readonly("runs", &psn::Failures::runs)
      .def_readonly("by_cause", &psn::Failures::by_cause)
      .def_readonly("last", &psn::Failures::last);
  py::class_<HeldOutKl>(module, "HeldOutKl")
      .def_readonly("nats", &HeldOutKl::nats)
      .def_readonly("standard_error", &HeldOutKl::standard_error)
      .def_readonly("traces", &HeldOutKl::traces);
  py::class_<SurrogateQuality>(module, "SurrogateQuality")
      .def_readonly("kl", &SurrogateQuality::kl);
  py::class_<services::Fallbacks>(module, "Fallbacks")
      .def_readonly("simulator", &services::Fallbacks::simulator)
      .def_readonly("taken", &services::Fallbacks::taken)
      .def_readonly("refused", &services::Fallbacks::refused);
  py::class_<RunReport>(module, "RunReport")
      .def_readonly("surrogate", &RunReport::surrogate)
      .def_readonly("fallbacks", &RunReport::fallbacks)
      .def_readonly("failures", &RunReport::failures);
}

// All that is to be heard of a posterior besides itself.
std::vector<std::string> told(const InferenceResult& result) {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  if (result.correction) add(failure_warnings(result.correction->failures));
  add(failure_warnings(result.report.failures));
  add(observation_use_warnings(result.use));
  add(result.warnings);
  return all;
}

void bind_runs(py::module_& module) {
  using Step = TraceRecord::Step;
  py::class_<Step>(module, "Step")
      .def_property_readonly("role", [](const Step& step) { return role_name(step.role); })
      .def_readonly("address", &Step::address)
      .def_readonly("name", &Step::name)
      .def_readonly("value", &Step::value)
      .def_readonly("distribution", &Step::distribution)
      .def_readonly("given", &Step::given);
  py::class_<TraceRecord>(module, "TraceRecord")
      .def_readonly("log_joint", &TraceRecord::log_joint)
      .def_readonly("steps", &TraceRecord::steps);
  py::class_<SimulationResult>(module, "SimulationResult", py::dynamic_attr())
      .def_readonly("model", &SimulationResult::model)
      .def_readonly("mean_length", &SimulationResult::mean_length)
      .def_readonly("longest", &SimulationResult::longest)
      .def_readonly("addresses", &SimulationResult::addresses)
      .def_readonly("traces_per_second", &SimulationResult::traces_per_second)
      .def_readonly("records", &SimulationResult::records)
      .def_readonly("samples", &SimulationResult::samples)
      .def_readonly("report", &SimulationResult::report);
  py::class_<CorrectionFigures>(module, "CorrectionFigures")
      .def_readonly("runs", &CorrectionFigures::runs)
      .def_readonly("ess_before", &CorrectionFigures::ess_before)
      .def_readonly("khat_before", &CorrectionFigures::khat_before)
      .def_readonly("seconds", &CorrectionFigures::seconds)
      .def_readonly("diverged", &CorrectionFigures::diverged)
      .def_readonly("failures", &CorrectionFigures::failures);
  py::class_<DelayedFigures>(module, "DelayedFigures")
      .def_readonly("moves", &DelayedFigures::moves)
      .def_readonly("longest_stay", &DelayedFigures::longest_stay)
      .def_readonly("khat", &DelayedFigures::khat);
  py::class_<InferenceResult>(module, "InferenceResult", py::dynamic_attr())
      .def_readonly("model", &InferenceResult::model)
      .def_property_readonly("engine",
                             [](const InferenceResult& result) { return name_of(result.engine); })
      .def_readonly("posterior", &InferenceResult::posterior)
      .def_readonly("summary", &InferenceResult::summary)
      .def_readonly("use", &InferenceResult::use)
      .def_readonly("correction", &InferenceResult::correction)
      .def_readonly("delayed", &InferenceResult::delayed)
      .def_readonly("simulator_runs", &InferenceResult::simulator_runs)
      .def_readonly("survey_runs", &InferenceResult::survey_runs)
      .def_readonly("learned", &InferenceResult::learned)
      .def_readonly("report", &InferenceResult::report)
      .def_readonly("warnings", &InferenceResult::warnings)
      .def_property_readonly("told", told);
  py::class_<PredictionResult>(module, "PredictionResult", py::dynamic_attr())
      .def_readonly("model", &PredictionResult::model)
      .def_readonly("samples", &PredictionResult::samples)
      .def_readonly("columns", &PredictionResult::columns)
      .def_readonly("draws", &PredictionResult::draws)
      .def_readonly("new_latents", &PredictionResult::new_latents)
      .def_readonly("traces_per_second", &PredictionResult::traces_per_second)
      .def_readonly("learned", &PredictionResult::learned)
      .def_readonly("report", &PredictionResult::report);
}

void bind_training(py::module_& module) {
  py::class_<Validation>(module, "Validation")
      .def_readonly("traces", &Validation::traces)
      .def_readonly("unseen", &Validation::unseen)
      .def_readonly("loss", &Validation::loss)
      .def_readonly("kl", &Validation::kl)
      .def_readonly("standard_error", &Validation::standard_error)
      .def_readonly("prior_loss", &Validation::prior_loss)
      .def_readonly("linear_loss", &Validation::linear_loss);
  py::class_<Progress>(module, "Progress")
      .def_readonly("traces", &Progress::traces)
      .def_readonly("addresses", &Progress::addresses)
      .def_readonly("transitions", &Progress::transitions)
      .def_readonly("seconds", &Progress::seconds)
      .def_readonly("validation", &Progress::validation)
      .def_readonly("finished", &Progress::finished);
  py::class_<TrainingResult>(module, "TrainingResult", py::dynamic_attr())
      .def_readonly("last", &TrainingResult::last)
      .def_readonly("infers", &TrainingResult::infers)
      .def_readonly("traces", &TrainingResult::traces)
      .def_readonly("failures", &TrainingResult::failures)
      .def_readonly("warnings", &TrainingResult::warnings)
      .def_readonly("verdict", &TrainingResult::verdict)
      .def_readonly("left", &TrainingResult::left);
  py::class_<TrainingAmount>(module, "TrainingAmount")
      .def_readonly("traces", &TrainingAmount::traces)
      .def_readonly("validation", &TrainingAmount::validation);
  py::class_<GenerationResult>(module, "GenerationResult")
      .def_readonly("model", &GenerationResult::model)
      .def_readonly("traces", &GenerationResult::traces)
      .def_readonly("new_traces", &GenerationResult::new_traces)
      .def_readonly("failures", &GenerationResult::failures);
  module.def("failure_warnings", failure_warnings, "failures"_a);
  module.def("surrogate_warnings", surrogate_warnings, "model"_a, "report"_a);
}

void bind_comparison(py::module_& module) {
  py::class_<WithFloor>(module, "WithFloor")
      .def_readonly("value", &WithFloor::value)
      .def_readonly("floor", &WithFloor::floor);
  py::class_<AddressDeviation>(module, "AddressDeviation")
      .def_readonly("address", &AddressDeviation::address)
      .def_readonly("visits", &AddressDeviation::visits)
      .def_readonly("value", &AddressDeviation::value)
      .def_readonly("transition", &AddressDeviation::transition)
      .def_readonly("closed_form", &AddressDeviation::closed_form);
  py::class_<ConditionalDeviation>(module, "ConditionalDeviation")
      .def_readonly("traces", &ConditionalDeviation::traces)
      .def_readonly("unseen", &ConditionalDeviation::unseen)
      .def_readonly("kl", &ConditionalDeviation::kl)
      .def_readonly("standard_error", &ConditionalDeviation::standard_error)
      .def_readonly("unknown_mass", &ConditionalDeviation::unknown_mass)
      .def_readonly("addresses", &ConditionalDeviation::addresses);
  py::class_<Bin>(module, "Bin")
      .def_readonly("low", &Bin::low)
      .def_readonly("high", &Bin::high)
      .def_readonly("count", &Bin::count)
      .def_readonly("mean", &Bin::mean)
      .def_readonly("standard_error", &Bin::standard_error);
  py::class_<BinnedComparison>(module, "BinnedComparison")
      .def_readonly("simulator", &BinnedComparison::simulator)
      .def_readonly("surrogate", &BinnedComparison::surrogate);
  py::class_<ComparisonResult>(module, "ComparisonResult", py::dynamic_attr())
      .def_readonly("conditional", &ComparisonResult::conditional)
      .def_readonly("transition", &ComparisonResult::transition)
      .def_readonly("frequency", &ComparisonResult::frequency)
      .def_readonly("path_total_variation", &ComparisonResult::path_total_variation)
      .def_readonly("conditional_means", &ComparisonResult::conditional_means)
      .def_readonly("failures", &ComparisonResult::failures);
  using Edge = TransitionGraph::Edge;
  py::class_<Edge>(module, "Edge")
      .def_readonly("origin", &Edge::from)
      .def_readonly("to", &Edge::to)
      .def_readonly("count", &Edge::count)
      .def_readonly("departures", &Edge::departures)
      .def_readonly("probability", &Edge::probability);
  py::class_<GraphResult>(module, "GraphResult", py::dynamic_attr())
      .def_readonly("traces", &GraphResult::traces)
      .def_readonly("report", &GraphResult::report)
      .def_readonly("edges", &GraphResult::edges)
      .def_property_readonly("loop_warnings",
                             [](const GraphResult& result) { return loop_warnings(result.loops); });
}

}  // namespace

void bind_results(py::module_& module) {
  bind_posterior(module);
  bind_summaries(module);
  bind_reports(module);
  bind_runs(module);
  bind_training(module);
  bind_comparison(module);
}

}  // namespace psn::python
