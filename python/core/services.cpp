// The calls: a job, the host that it runs under and a folder for its files in, its result out.
#include "python/core/services.h"

#include <nlohmann/json.hpp>

#include "psn/services/budget.h"
#include "psn/services/generate.h"
#include "psn/services/saving/results.h"
#include "psn/services/serve.h"
#include "python/core/host.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace)

// result.to_dict(): what the command line prints with --json. For that a result keeps its job.
template <class Job, class Result>
void add_to_dict() {
  const py::object type = py::type::of<Result>();
  const auto to_dict = [](const py::object& self) {
    const auto json = services::json_of(self.cast<const Result&>(), self.attr("job").cast<Job&>());
    return py::module_::import("json").attr("loads")(json.dump());
  };
  type.attr("to_dict") = py::cpp_function(to_dict, py::name("to_dict"), py::is_method(type),
                                          "All figures, as the command line's --json has them.");
}

// `out`: a folder for the result, with `config` in it; empty: none.
template <class Asked, class Result>
void bind(py::module_& module, const char* name, Result (*service)(Asked, services::Host&)) {
  using Job = std::remove_cvref_t<Asked>;
  constexpr bool kSaves = requires(Job job) {
    job.save;
  };
  module.def(
      name,
      [service](const py::object& asked, PythonHost& host, const std::string& path,
                const std::string& config) {
        Job job = asked.cast<const Job&>();
        services::OutputDirectory out(path);
        const auto keep = [&](const Result& result) {
          if (out) services::save(result, job, config, out);
        };
        if constexpr (kSaves) {
          job.out = path;
          job.config = config;
          job.save = keep;
        }
        py::object answer = py::cast(host.run([&] {
          Result result = service(job, host);
          if constexpr (!kSaves) keep(result);
          return result;
        }));
        answer.attr("job") = asked;
        return answer;
      },
      "job"_a, "host"_a, "out"_a = "", "config"_a = "");
  add_to_dict<Job, Result>();
}

py::object train(const py::object& asked, PythonHost& host) {
  const auto& job = asked.cast<const services::TrainingJob&>();
  py::object answer = py::cast(host.run([&] {
    services::TrainingResult result = services::train(job, host);
    services::save_summary(result, job);
    return result;
  }));
  answer.attr("job") = asked;
  return answer;
}

// `ready` is told the model's name and where it is served, `log` of runs that failed; None: nobody.
bool serve(services::ServiceJob job, PythonHost& host, const py::object& log,
           const py::object& ready) {
  if (!log.is_none()) {
    job.log = [&log](const std::string& line) {
      const py::gil_scoped_acquire python;
      log(line);
    };
  }
  if (!ready.is_none()) {
    job.ready = [&ready](const std::string& model, const std::string& endpoint) {
      const py::gil_scoped_acquire python;
      ready(model, endpoint);
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

}  // namespace

void bind_services(py::module_& module) {
  py::class_<PythonHost>(module, "Host")
      .def(py::init<const py::dict&, py::object>(), "programs"_a, "progress"_a = py::none())
      .def("models", [](const PythonHost& host) {
        std::vector<std::pair<std::string, std::string>> all;
        for (const Model& model : host.models()) all.emplace_back(model.name, model.description);
        return all;
      });
  module.attr("traces_kept") = services::kTracesKept;
  bind(module, "simulate", services::simulate);
  bind(module, "infer", services::infer);
  bind(module, "predict", services::predict);
  bind(module, "graph", services::graph);
  bind(module, "compare", services::compare);
  bind(module, "model_evidence", services::model_evidence);
  bind(module, "validate", services::validate);
  bind(module, "calibrate", services::calibrate);
  bind(module, "criticise", services::criticise);
  module.def("train", train, "job"_a, "host"_a);
  add_to_dict<services::TrainingJob, services::TrainingResult>();
  module.def("amount_within", amount_within, "job"_a, "seconds"_a, "host"_a);
  module.def("amount_begun", services::amount_begun, "out"_a);
  module.def("generate", generate, "job"_a, "host"_a);
  module.def("serve", serve, "job"_a, "host"_a, "log"_a = py::none(), "ready"_a = py::none());
  module.def("make_keys", services::make_keys, "path"_a);
}

}  // namespace psn::python
