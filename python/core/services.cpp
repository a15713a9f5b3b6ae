// The calls: a job and the host that it runs under in, its result out.
#include "python/core/services.h"

#include "psn/services/budget.h"
#include "psn/services/compare.h"
#include "psn/services/generate.h"
#include "psn/services/graph.h"
#include "psn/services/infer.h"
#include "psn/services/predict.h"
#include "psn/services/report.h"
#include "psn/services/serve.h"
#include "psn/services/simulate.h"
#include "psn/services/train.h"
#include "python/core/host.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace)

template <class Job, class Result>
void bind(py::module_& module, const char* name, Result (*service)(Job, services::Host&)) {
  module.def(
      name,
      [service](const std::remove_cvref_t<Job>& job, PythonHost& host) {
        return host.run([&] { return service(job, host); });
      },
      "job"_a, "host"_a);
}

// `log` is told of runs that failed; None: nobody is.
bool serve(services::ServiceJob job, PythonHost& host, const py::object& log) {
  if (!log.is_none()) {
    job.log = [&log](const std::string& line) {
      const py::gil_scoped_acquire python;
      log(line);
    };
  }
  return host.run([&] {
    services::serve(job, host);
    return true;
  });
}

services::TrainingAmount amount_within(const services::TrainingJob& job, double seconds,
                                       PythonHost& host) {
  return host.run([&] { return services::amount_within(job, seconds, host); });
}

services::GenerationResult generate(const services::GenerationJob& job, PythonHost& host) {
  return host.run([&] { return services::generate(job, host); });
}

services::GraphResult graph(const services::ForwardOptions& options, bool sites, PythonHost& host) {
  using Nodes = TransitionGraph::Nodes;
  return host.run(
      [&] { return services::graph(options, sites ? Nodes::kSites : Nodes::kAddresses, host); });
}

}  // namespace

void bind_services(py::module_& module) {
  py::class_<PythonHost>(module, "Host")
      .def(py::init<const py::dict&, py::object>(), "programs"_a, "progress"_a = py::none());
  bind(module, "simulate", services::simulate);
  bind(module, "infer", services::infer);
  bind(module, "predict", services::predict);
  bind(module, "compare", services::compare);
  bind(module, "train", services::train);
  module.def("amount_within", amount_within, "job"_a, "seconds"_a, "host"_a);
  module.def("amount_begun", services::amount_begun, "out"_a);
  module.def("generate", generate, "job"_a, "host"_a);
  module.def("graph", graph, "options"_a, "sites"_a, "host"_a);
  module.def(
      "write_report",
      [](const std::vector<std::string>& inputs, const std::string& path) {
        const py::gil_scoped_release free;
        services::write_report(services::report_on_results(inputs), path);
      },
      "inputs"_a, "path"_a);
  module.def("serve", serve, "job"_a, "host"_a, "log"_a = py::none());
}

}  // namespace psn::python
