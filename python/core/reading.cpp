// Results that were left in folders, read again: summaries, diagnoses, exports, reports, trainings
// under way; and what this psn is.
#include "psn/services/build_facts.h"
#include "psn/services/diagnose.h"
#include "psn/services/export_result.h"
#include "psn/services/infer.h"
#include "psn/services/machine.h"
#include "psn/services/report.h"
#include "psn/services/summary.h"
#include "psn/services/watch.h"
#include "python/core/services.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace services;      // NOLINT(google-build-using-namespace)
using namespace py::literals;  // NOLINT(google-build-using-namespace)

using WithoutPython = py::call_guard<py::gil_scoped_release>;

void bind_summary(py::module_& module) {
  py::class_<SummaryJob>(module, "SummaryJob")
      .def(py::init())
      .def_readwrite("folders", &SummaryJob::folders)
      .def_readwrite("queries", &SummaryJob::queries)
      .def_readwrite("quantiles", &SummaryJob::quantiles)
      .def_readwrite("hdi", &SummaryJob::hdi);
  py::class_<VariableSummary>(module, "VariableSummary")
      .def_readonly("name", &VariableSummary::name)
      .def_readonly("mean", &VariableSummary::mean)
      .def_readonly("mcse", &VariableSummary::mcse)
      .def_readonly("sd", &VariableSummary::sd)
      .def_readonly("quantiles", &VariableSummary::quantiles)
      .def_property_readonly("hdi",
                             [](const VariableSummary& v) {
                               return std::pair{v.hdi.low, v.hdi.high};
                             })
      .def_readonly("ess", &VariableSummary::ess)
      .def_readonly("rhat", &VariableSummary::rhat)
      .def_readonly("probability", &VariableSummary::probability)
      .def_readonly("apart", &VariableSummary::apart);
  py::class_<SummarizedResult>(module, "SummarizedResult")
      .def_readonly("folder", &SummarizedResult::folder)
      .def_readonly("model", &SummarizedResult::model)
      .def_readonly("engine", &SummarizedResult::engine)
      .def_readonly("samples", &SummarizedResult::samples)
      .def_readonly("chains", &SummarizedResult::chains)
      .def_readonly("variables", &SummarizedResult::variables);
  module.def("summarize_results", summarize_results, "job"_a, WithoutPython());
}

void bind_diagnosis(py::module_& module) {
  py::class_<Finding>(module, "Finding")
      .def_readonly("warning", &Finding::warning)
      .def_readonly("reason", &Finding::reason)
      .def_readonly("remedy", &Finding::remedy);
  py::class_<Diagnosis>(module, "Diagnosis")
      .def_readonly("result", &Diagnosis::result)
      .def_readonly("kind", &Diagnosis::kind)
      .def_readonly("findings", &Diagnosis::findings);
  module.def("diagnose", diagnose, "result"_a, WithoutPython());
}

void bind_export(py::module_& module) {
  py::enum_<ExportFormat>(module, "ExportFormat")
      .value("netcdf", ExportFormat::kNetcdf)
      .value("npz", ExportFormat::kNpz)
      .value("csv", ExportFormat::kCsv);
  py::class_<ResultExport>(module, "ResultExport")
      .def(py::init())
      .def_readwrite("folder", &ResultExport::folder)
      .def_readwrite("format", &ResultExport::format)
      .def_readwrite("out", &ResultExport::out)
      .def_readwrite("resample", &ResultExport::resample)
      .def_readwrite("seed", &ResultExport::seed)
      .def_readwrite("predictive", &ResultExport::predictive)
      .def_readwrite("prior", &ResultExport::prior);
  module.def("export_result", py::overload_cast<const ResultExport&>(export_result), "job"_a,
             WithoutPython());
  module.def(
      "export_posterior",
      [](const InferenceResult& result, const InferenceJob& of, const ResultExport& job) {
        SavedResult saved{.model = result.model, .samples = result.posterior};
        if (result.correction) saved.corrected_size = result.summary.ess;
        return export_result(std::move(saved), of.observations, job);
      },
      "result"_a, "of"_a, "job"_a, WithoutPython());
}

void bind_reports_and_watching(py::module_& module) {
  module.def(
      "write_report",
      [](const std::vector<std::string>& inputs, const std::string& path) {
        write_report(report_on_results(inputs), path);
      },
      "inputs"_a, "path"_a, WithoutPython());
  py::class_<FigureFiles>(module, "FigureFiles")
      .def(py::init())
      .def_readwrite("svg", &FigureFiles::svg)
      .def_readwrite("png", &FigureFiles::png)
      .def_readwrite("pdf", &FigureFiles::pdf);
  module.def(
      "draw_figure",
      [](const std::vector<std::string>& inputs, const std::string& name,
         const FigureFiles& files) { draw_figure(report_on_results(inputs), name, files); },
      "inputs"_a, "name"_a, "files"_a, WithoutPython());
  module.def(
      "draw_vega_lite",
      [](const std::string& spec, const FigureFiles& files) {
        draw_figure(Figure{.name = "figure", .content = spec}, files);
      },
      "spec"_a, "files"_a, WithoutPython());
  py::enum_<TrainingPhase>(module, "TrainingPhase")
      .value("running", TrainingPhase::kRunning)
      .value("finished", TrainingPhase::kFinished)
      .value("stopped", TrainingPhase::kStopped)
      .value("broken_off", TrainingPhase::kBrokenOff);
  py::class_<TrainingCourse>(module, "TrainingCourse")
      .def_readonly("folder", &TrainingCourse::folder)
      .def_readonly("phase", &TrainingCourse::phase)
      .def_readonly("traces", &TrainingCourse::traces)
      .def_readonly("total", &TrainingCourse::total)
      .def_readonly("seconds", &TrainingCourse::seconds)
      .def_readonly("traces_per_second", &TrainingCourse::traces_per_second)
      .def_readonly("loss", &TrainingCourse::loss)
      .def_readonly("kl", &TrainingCourse::kl)
      .def_readonly("learning_rate", &TrainingCourse::learning_rate)
      .def_readonly("addresses", &TrainingCourse::addresses)
      .def_readonly("held_out", &TrainingCourse::held_out)
      .def_property_readonly("seconds_left", &TrainingCourse::seconds_left);
  module.def("training_courses", training_courses, "folders"_a, WithoutPython());
}

void bind_facts(py::module_& module) {
  module.def("build_facts", [] {
    const BuildFacts facts = build_facts();
    return py::dict("version"_a = facts.version, "commit"_a = facts.commit,
                    "compiler"_a = facts.compiler, "build_type"_a = facts.build_type,
                    "vector_extensions"_a = facts.vector_extensions,
                    "libraries"_a = facts.libraries);
  });
  module.def("machine", [] {
    const Machine machine = examine_machine();
    return py::dict("cpu"_a = machine.cpu, "features"_a = machine.features,
                    "cores"_a = machine.cores, "memory_gib"_a = machine.memory_gib,
                    "onednn"_a = machine.onednn, "mpi"_a = machine.mpi);
  });
}

}  // namespace

void bind_reading(py::module_& module) {
  bind_summary(module);
  bind_diagnosis(module);
  bind_export(module);
  bind_reports_and_watching(module);
  bind_facts(module);
}

}  // namespace psn::python
