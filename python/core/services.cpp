// The calls: a job and the host that it runs under in, its result out.
#include "python/core/services.h"

#include "psn/services/infer.h"
#include "psn/services/serve.h"
#include "psn/services/simulate.h"
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

bool serve(const services::ServiceJob& job, PythonHost& host) {
  return host.run([&] {
    services::serve(job, host);
    return true;
  });
}

}  // namespace

void bind_services(py::module_& module) {
  py::class_<PythonHost>(module, "Host")
      .def(py::init<const py::dict&, py::object>(), "programs"_a, "progress"_a = py::none());
  bind(module, "simulate", services::simulate);
  bind(module, "infer", services::infer);
  module.def("serve", serve, "job"_a, "host"_a);
}

}  // namespace psn::python
