// What services are asked: their structs of options, as Python's objects.
#include "psn/services/compare.h"
#include "psn/services/engine_names.h"
#include "psn/services/generate.h"
#include "psn/services/graph.h"
#include "psn/services/model_evidence.h"
#include "psn/services/predict.h"
#include "psn/services/serve.h"
#include "psn/services/simulate.h"
#include "psn/services/train.h"
#include "python/core/services.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace services;  // NOLINT(google-build-using-namespace)

// A property that is read and written as a dict of values.
template <class Job>
auto values_of(Observations Job::*at) {
  return [at](const Job& job) { return (job.*at).values(); };
}
template <class Job>
auto set_values_of(Observations Job::*at) {
  return [at](Job& job, const std::map<std::string, Value>& values) {
    Observations given;
    for (const auto& [name, value] : values) given.set(name, value);
    job.*at = std::move(given);
  };
}

void bind_simulation_options(py::module_& module) {
  py::class_<RemoteSettings>(module, "RemoteSettings")
      .def_readwrite("workers", &RemoteSettings::workers)
      .def_readwrite("max_failures", &RemoteSettings::max_failures)
      .def_readwrite("start_limit", &RemoteSettings::start_limit)
      .def_readwrite("run_limit", &RemoteSettings::run_limit)
      .def_readwrite("curve_server", &RemoteSettings::curve_server)
      .def_readwrite("curve_keys", &RemoteSettings::curve_keys)
      .def_readwrite("attach", &RemoteSettings::attach);
  py::class_<SimulatorSettings>(module, "SimulatorSettings")
      .def_readwrite("stack_kib", &SimulatorSettings::stack_kib)
      .def_readwrite("time_limit", &SimulatorSettings::time_limit)
      .def_readwrite("remote", &SimulatorSettings::remote);
  py::class_<SimulationOptions, SimulatorSettings>(module, "SimulationOptions")
      .def_readwrite("model", &SimulationOptions::model)
      .def_readwrite("count", &SimulationOptions::count)
      .def_readwrite("max_length", &SimulationOptions::max_length)
      .def_readwrite("seed", &SimulationOptions::seed)
      .def_property(
          "width", [](const SimulationOptions& o) { return o.parallelism.width; },
          [](SimulationOptions& o, std::size_t width) { o.parallelism.width = width; })
      .def_property(
          "threads", [](const SimulationOptions& o) { return o.parallelism.threads; },
          [](SimulationOptions& o, std::size_t threads) { o.parallelism.threads = threads; });
  using Unknown = SurrogateOptions::Unknown;
  py::enum_<Unknown>(module, "Unknown")
      .value("renormalise", Unknown::kRenormalise)
      .value("stop", Unknown::kStop)
      .value("simulator", Unknown::kSimulator);
  py::class_<SurrogateUse>(module, "SurrogateUse")
      .def_readwrite("unknown", &SurrogateUse::unknown)
      .def_readwrite("simulator", &SurrogateUse::simulator);
}

void bind_forward_jobs(py::module_& module) {
  py::class_<ForwardOptions>(module, "ForwardOptions")
      .def(py::init())
      .def_readwrite("simulation", &ForwardOptions::simulation)
      .def_readwrite("surrogate", &ForwardOptions::surrogate)
      .def_property("held", values_of(&ForwardOptions::held), set_values_of(&ForwardOptions::held))
      .def_readwrite("queries", &ForwardOptions::queries);
  py::class_<GraphJob, ForwardOptions>(module, "GraphJob")
      .def(py::init())
      .def_property(
          "sites", [](const GraphJob& job) { return job.nodes == TransitionGraph::Nodes::kSites; },
          [](GraphJob& job, bool sites) {
            job.nodes = sites ? TransitionGraph::Nodes::kSites : TransitionGraph::Nodes::kAddresses;
          })
      .def_readwrite("min_probability", &GraphJob::min_probability);
  py::class_<SimulationJob, ForwardOptions>(module, "SimulationJob")
      .def(py::init())
      .def_readwrite("recorded", &SimulationJob::recorded)
      .def_readwrite("distributions", &SimulationJob::distributions)
      .def_readwrite("columns", &SimulationJob::columns);
  py::class_<PredictionJob, ForwardOptions>(module, "PredictionJob")
      .def(py::init())
      .def_readwrite("posterior", &PredictionJob::posterior)
      .def(
          "predict_from",
          [](PredictionJob& job, const InferenceResult& posterior) {
            job.kept = posterior.draws ? &*posterior.draws : nullptr;
          },
          py::keep_alive<1, 2>());
  py::class_<ComparisonJob>(module, "ComparisonJob")
      .def(py::init())
      .def_readwrite("simulation", &ComparisonJob::simulation)
      .def_readwrite("surrogate", &ComparisonJob::surrogate)
      .def_readwrite("min_count", &ComparisonJob::min_count)
      .def_readwrite("bin", &ComparisonJob::bin)
      .def_readwrite("by", &ComparisonJob::by)
      .def_readwrite("bins", &ComparisonJob::bins)
      .def_readwrite("range", &ComparisonJob::range);
  py::class_<GenerationJob>(module, "GenerationJob")
      .def(py::init())
      .def_readwrite("simulation", &GenerationJob::simulation)
      .def_readwrite("store", &GenerationJob::store)
      .def_readwrite("commit_every", &GenerationJob::commit_every)
      .def_readwrite("map_bytes", &GenerationJob::map_bytes)
      .def_readwrite("config", &GenerationJob::config);
  py::class_<ServiceJob>(module, "ServiceJob")
      .def(py::init())
      .def_readwrite("model", &ServiceJob::model)
      .def_readwrite("endpoint", &ServiceJob::endpoint)
      .def_readwrite("stack_kib", &ServiceJob::stack_kib)
      .def_readwrite("attach", &ServiceJob::attach)
      .def_readwrite("withhold_data", &ServiceJob::withhold_data)
      .def_readwrite("curve_keys", &ServiceJob::curve_keys)
      .def_readwrite("curve_allow", &ServiceJob::curve_allow)
      .def_readwrite("seed", &ServiceJob::seed);
}

void bind_inference_job(py::module_& module) {
  py::enum_<Engine> engines(module, "Engine");
  for (const auto& [name, engine] : engine_names()) engines.value(name.c_str(), engine);
  using Job = InferenceJob;
  py::class_<Job>(module, "InferenceJob")
      .def(py::init())
      .def_readwrite("simulation", &Job::simulation)
      .def_readwrite("surrogate", &Job::surrogate)
      .def_readwrite("engine", &Job::engine)
      .def_property("observations", values_of(&Job::observations),
                    set_values_of(&Job::observations))
      .def_property("held", values_of(&Job::held), set_values_of(&Job::held))
      .def_readwrite("queries", &Job::queries)
      .def_readwrite("chains", &Job::chains)
      .def_readwrite("burn_in", &Job::burn_in)
      .def_readwrite("thinning", &Job::thinning)
      .def_readwrite("network", &Job::network)
      .def_readwrite("surrogates", &Job::surrogates)
      .def_readwrite("moves", &Job::moves)
      .def_readwrite("fresh", &Job::fresh)
      .def_readwrite("parameters", &Job::parameters)
      .def_readwrite("until", &Job::until)
      .def_readwrite("max_runs", &Job::max_runs)
      .def_readwrite("keep", &Job::keep)
      .def_readwrite("defensive", &Job::defensive)
      .def_readwrite("correct", &Job::correct)
      .def_readwrite("draws", &Job::draws)
      .def_readwrite("resume", &Job::resume);
}

void bind_evidence_job(py::module_& module) {
  py::class_<EvidenceJob>(module, "EvidenceJob")
      .def(py::init())
      .def_readwrite("simulation", &EvidenceJob::simulation)
      .def_readwrite("models", &EvidenceJob::models)
      .def_readwrite("networks", &EvidenceJob::networks)
      .def_readwrite("defensive", &EvidenceJob::defensive)
      .def_property("observations", values_of(&EvidenceJob::observations),
                    set_values_of(&EvidenceJob::observations))
      .def_property("held", values_of(&EvidenceJob::held), set_values_of(&EvidenceJob::held));
  py::class_<ModelEvidence>(module, "ModelEvidence")
      .def_readonly("model", &ModelEvidence::model)
      .def_readonly("engine", &ModelEvidence::engine)
      .def_readonly("log_evidence", &ModelEvidence::log_evidence)
      .def_readonly("error", &ModelEvidence::error)
      .def_readonly("ess", &ModelEvidence::ess)
      .def_readonly("khat", &ModelEvidence::khat)
      .def_readonly("log_bayes_factor", &ModelEvidence::log_bayes_factor)
      .def_readonly("probability", &ModelEvidence::probability)
      .def_readonly("simulator_runs", &ModelEvidence::simulator_runs)
      .def_readonly("survey_runs", &ModelEvidence::survey_runs);
  py::class_<EvidenceResult>(module, "EvidenceResult", py::dynamic_attr())
      .def_readonly("models", &EvidenceResult::models)
      .def_readonly("best", &EvidenceResult::best)
      .def_readonly("warnings", &EvidenceResult::warnings);
}

void bind_training_job(py::module_& module) {
  py::class_<StoredTraces>(module, "StoredTraces")
      .def_readwrite("store", &StoredTraces::store)
      .def_readwrite("epochs", &StoredTraces::epochs);
  py::class_<TrainingJob>(module, "TrainingJob")
      .def(py::init())
      .def_readwrite("recipe", &TrainingJob::recipe)
      .def_readwrite("model", &TrainingJob::model)
      .def_readwrite("data", &TrainingJob::data)
      .def_readwrite("simulator", &TrainingJob::simulator)
      .def_readwrite("start", &TrainingJob::from)
      .def_readwrite("out", &TrainingJob::out)
      .def_readwrite("log", &TrainingJob::log)
      .def_readwrite("resume", &TrainingJob::resume)
      .def_readwrite("config", &TrainingJob::config);
}

}  // namespace

void bind_jobs(py::module_& module) {
  bind_simulation_options(module);
  bind_forward_jobs(module);
  bind_inference_job(module);
  bind_evidence_job(module);
  bind_training_job(module);
}

}  // namespace psn::python
