// Validation, calibration and criticism: jobs, verdicts, calls.
#include "psn/services/calibrate.h"
#include "psn/services/criticise.h"
#include "psn/services/validate.h"
#include "python/core/services.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace)
using namespace services;      // NOLINT(google-build-using-namespace)

void bind_verdicts(py::module_& module) {
  py::class_<evidence::Test>(module, "Test")
      .def_readonly("test", &evidence::Test::test)
      .def_readonly("what", &evidence::Test::what)
      .def_readonly("p_value", &evidence::Test::p_value)
      .def_readonly("adjusted_p_value", &evidence::Test::adjusted_p_value)
      .def_readonly("failed", &evidence::Test::failed)
      .def_readonly("reason", &evidence::Test::reason);
  py::class_<evidence::Verdict>(module, "Verdict")
      .def_readonly("passed", &evidence::Verdict::passed)
      .def_readonly("undecided", &evidence::Verdict::undecided)
      .def_readonly("reasons", &evidence::Verdict::reasons)
      .def_readonly("false_alarm_rate", &evidence::Verdict::false_alarm_rate)
      .def_readonly("tests", &evidence::Verdict::tests)
      .def("__bool__", [](const evidence::Verdict& verdict) { return verdict.passed; })
      .def("__repr__", [](const evidence::Verdict& verdict) {
        std::string text = verdict.passed ? "passed" : "not passed";
        for (const std::string& reason : verdict.reasons) text += "\n" + reason;
        return text;
      });
  py::class_<evidence::Curve>(module, "Curve")
      .def_readonly("count", &evidence::Curve::count)
      .def_readonly("z", &evidence::Curve::z)
      .def_readonly("difference", &evidence::Curve::difference)
      .def_readonly("low", &evidence::Curve::low)
      .def_readonly("high", &evidence::Curve::high)
      .def_readonly("p_value", &evidence::Curve::p_value)
      .def_readonly("outside", &evidence::Curve::outside);
}

void bind_validation(py::module_& module) {
  py::class_<ValidationJob>(module, "ValidationJob")
      .def(py::init())
      .def_readwrite("simulation", &ValidationJob::simulation)
      .def_readwrite("data", &ValidationJob::data)
      .def_readwrite("all_traces", &ValidationJob::all_traces)
      .def_readwrite("surrogate", &ValidationJob::surrogate)
      .def_readwrite("tolerance", &ValidationJob::tolerance)
      .def_readwrite("most_kl", &ValidationJob::most_kl);
  py::class_<ValidationResult>(module, "ValidationResult", py::dynamic_attr())
      .def_readonly("verdict", &ValidationResult::verdict)
      .def_readonly("warnings", &ValidationResult::warnings)
      .def_readonly("conditional", &ValidationResult::conditional)
      .def_readonly("path_total_variation", &ValidationResult::path_total_variation)
      .def_readonly("failures", &ValidationResult::failures);
}

void bind_calibration(py::module_& module) {
  py::class_<CalibrationJob>(module, "CalibrationJob")
      .def(py::init())
      .def_readwrite("simulation", &CalibrationJob::simulation)
      .def_readwrite("datasets", &CalibrationJob::datasets)
      .def_readwrite("network", &CalibrationJob::network)
      .def_readwrite("surrogate", &CalibrationJob::surrogate)
      .def_readwrite("engine", &CalibrationJob::engine)
      .def_readwrite("queries", &CalibrationJob::queries)
      .def_readwrite("tolerance", &CalibrationJob::tolerance)
      .def_readwrite("resume", &CalibrationJob::resume);
  py::class_<CalibratedLatent>(module, "CalibratedLatent")
      .def_readonly("name", &CalibratedLatent::name)
      .def_readonly("ranks", &CalibratedLatent::ranks)
      .def_readonly("coverage", &CalibratedLatent::coverage)
      .def_readonly("z_score", &CalibratedLatent::z_score)
      .def_readonly("contraction", &CalibratedLatent::contraction);
  py::class_<CalibrationResult>(module, "CalibrationResult", py::dynamic_attr())
      .def_readonly("verdict", &CalibrationResult::verdict)
      .def_readonly("datasets", &CalibrationResult::datasets)
      .def_readonly("latents", &CalibrationResult::latents)
      .def_readonly("tarp", &CalibrationResult::tarp)
      .def_readonly("ess", &CalibrationResult::ess)
      .def_readonly("khat", &CalibrationResult::khat)
      .def_readonly("unreliable", &CalibrationResult::unreliable)
      .def_readonly("failures", &CalibrationResult::failures);
}

void bind_criticism(py::module_& module) {
  py::class_<CriticismJob>(module, "CriticismJob")
      .def(py::init())
      .def_readwrite("simulation", &CriticismJob::simulation)
      .def_property(
          "observations", [](const CriticismJob& job) { return job.observations.values(); },
          [](CriticismJob& job, const std::map<std::string, Value>& values) {
            job.observations = Observations();
            for (const auto& [name, value] : values) job.observations.set(name, value);
          })
      .def_readwrite("replicates", &CriticismJob::replicates)
      .def_readwrite("engine", &CriticismJob::engine)
      .def_readwrite("network", &CriticismJob::network)
      .def_readwrite("resume", &CriticismJob::resume);
  py::class_<CriticisedSite>(module, "CriticisedSite")
      .def_readonly("address", &CriticisedSite::address)
      .def_readonly("name", &CriticisedSite::name)
      .def_readonly("component", &CriticisedSite::component)
      .def_readonly("value", &CriticisedSite::value)
      .def_readonly("pit", &CriticisedSite::pit)
      .def_readonly("blamed", &CriticisedSite::blamed);
  py::class_<CriticismResult>(module, "CriticismResult", py::dynamic_attr())
      .def_readonly("verdict", &CriticismResult::verdict)
      .def_readonly("warnings", &CriticismResult::warnings)
      .def_readonly("p_value", &CriticismResult::p_value)
      .def_readonly("replicates", &CriticismResult::replicates)
      .def_readonly("ess", &CriticismResult::ess)
      .def_readonly("khat", &CriticismResult::khat)
      .def_readonly("sites", &CriticismResult::sites)
      .def_readonly("failures", &CriticismResult::failures);
}

}  // namespace

void bind_evidence(py::module_& module) {
  bind_verdicts(module);
  bind_validation(module);
  bind_calibration(module);
  bind_criticism(module);
}

}  // namespace psn::python
