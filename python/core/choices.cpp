// What a program in Python may ask for: sample, observe, tag, factor, scope.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "psn/base/error.h"
#include "psn/core/distribution.h"
#include "psn/core/fiber.h"
#include "python/core/errors.h"
#include "python/core/program.h"
#include "python/core/run.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

// NOLINTNEXTLINE(*-avoid-non-const-global-variables): of a thread, as the ambient context is
[[gnu::tls_model("initial-exec")]] thread_local Run* run_of_thread = nullptr;

using Text = std::optional<std::string_view>;

// What `ask` of the run's context returns.
template <class Ask>
auto ask_engine(const char* what, Ask ask) {
  Run& run = require_run(what);
  if (run.abandoned) throw Abandoned();
  try {
    const EnginesTurn turn(run);
    return ask(run.context);
  } catch (const Fiber::Unwind&) {
    run.abandoned = true;
  }
  throw Abandoned();
}

// "shop.py:12": the line of the program that is running.
std::string place() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (!frame) return "";
  const auto code =
      py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const auto file = code.attr("co_filename").cast<std::string>();
  return fmt::format("{}:{}", file.substr(file.find_last_of('/') + 1),
                     PyFrame_GetLineNumber(frame));
}

// What tells a choice apart; by default its line.
class Site {
 public:
  Site(const Text& name, const Text& address, std::optional<std::int64_t> index,
       bool control = true)
      : options_{name.value_or(""), address.value_or(""), index, control} {
    if (!options_.name.empty() || !options_.address.empty()) return;
    place_ = place();
    options_.address = place_;
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  const SiteOptions& options() const { return options_; }

 private:
  std::string place_;
  SiteOptions options_;
};

py::object sample_value(const Distribution& distribution, const Text& name, const Text& address,
                        std::optional<std::int64_t> index, bool control) {
  const Site site(name, address, index, control);
  const Value value = ask_engine(
      "sample", [&](Context& context) { return context.sample(distribution, site.options()); });
  return from_value(value, distribution.discrete());
}

py::object observe_value(const Distribution& distribution, const Text& name,
                         const std::optional<Value>& value, const Text& address,
                         std::optional<std::int64_t> index) {
  const Site site(name, address, index);
  const Value seen = ask_engine("observe", [&](Context& context) {
    return context.observe(distribution, value, site.options());
  });
  return from_value(seen, distribution.discrete());
}

void tag_value(const Value& value, const Text& name, const Text& address,
               std::optional<std::int64_t> index) {
  const Site site(name, address, index);
  ask_engine("tag", [&](Context& context) { context.tag(value, site.options()); });
}

void add_factor(double log_weight, const Text& name, const Text& address,
                std::optional<std::int64_t> index) {
  const Site site(name, address, index);
  ask_engine("factor", [&](Context& context) { context.factor(log_weight, site.options()); });
}

// A scope for `with`. One that is left when its run is over does nothing.
class ScopeGuard {
 public:
  ScopeGuard(std::string name, std::optional<std::int64_t> index)
      : name_(std::move(name)), index_(index) {}
  void enter() {
    run_ = &require_run("scope");
    scope_ = std::make_unique<Context::Scope>(run_->context, name_, index_);
  }
  void leave() {
    if (current_run() == run_) return scope_.reset();
    static_cast<void>(scope_.release());
  }

 private:
  std::string name_;
  std::optional<std::int64_t> index_;
  Run* run_ = nullptr;
  std::unique_ptr<Context::Scope> scope_;
};

}  // namespace

Run* current_run() {
  return run_of_thread;
}

void set_current_run(Run* run) {
  run_of_thread = run;
}

Run& require_run(const char* what) {
  if (run_of_thread) return *run_of_thread;
  throw ModelError(fmt::format("psn.{} works only inside a running program", what));
}

void bind_choices(py::module_& module) {
  using namespace py::literals;  // NOLINT(google-build-using-namespace)
  module.def("sample", sample_value, "distribution"_a, "name"_a = py::none(), py::kw_only(),
             "address"_a = py::none(), "index"_a = py::none(), "control"_a = true,
             "Draw a latent random value. The name tells choices apart, and observations and "
             "queries refer to it;\nwithout one it is the line of code. `index` is for families: "
             "bern_0, bern_1, ... With `control=False` it\nis always drawn from the distribution "
             "itself. Whole numbers come back as int, vectors as arrays.");
  module.def("observe", observe_value, "distribution"_a, "name"_a = py::none(),
             "value"_a = py::none(), py::kw_only(), "address"_a = py::none(),
             "index"_a = py::none(),
             "State that a quantity can be measured, and get it: what the user observed under this "
             "name, else\n`value`, the program's own data, else a draw. NaN: nobody tells.");
  module.def("tag", tag_value, "value"_a, "name"_a = py::none(), py::kw_only(),
             "address"_a = py::none(), "index"_a = py::none(), "Record a derived quantity.");
  module.def("factor", add_factor, "log_weight"_a, "name"_a = py::none(), py::kw_only(),
             "address"_a = py::none(), "index"_a = py::none(),
             "Multiply the weight of the run by exp(log_weight); -inf rules the run out.");
  py::class_<ScopeGuard>(module, "scope",
                         "with psn.scope(\"floor\", 2): prefixes the addresses of all choices "
                         "within.")
      .def(py::init<std::string, std::optional<std::int64_t>>(), "name"_a, "index"_a = py::none())
      .def("__enter__", &ScopeGuard::enter)
      .def("__exit__", [](ScopeGuard& scope, const py::args&) { scope.leave(); });
}

}  // namespace psn::python
