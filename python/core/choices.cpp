// What a program in Python may ask for: sample, observe, observe_value, tag, factor, until, scope.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "psn/base/error.h"
#include "psn/core/distribution.h"
#include "psn/core/fiber.h"
#include "python/core/arguments.h"
#include "python/core/errors.h"
#include "python/core/program.h"
#include "python/core/run.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

// NOLINTNEXTLINE(*-avoid-non-const-global-variables): of a thread, as the ambient context is
[[gnu::tls_model("initial-exec")]] thread_local Run* run_of_thread = nullptr;

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
  Site(PyObject* name, PyObject* address, PyObject* index, PyObject* control = nullptr)
      : options_{text_of(name), text_of(address), whole_of(index),
                 !control || PyObject_IsTrue(control) != 0} {
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

py::object sample(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  static const Names<5> names("sample", 1, 2,
                              {"distribution", "name", "address", "index", "control"});
  const auto [what, name, address, index, control] = names.read(arguments, count, keywords);
  const Distribution& distribution = distribution_of(what);
  const Site site(name, address, index, control);
  const Value value = ask_engine(
      "sample", [&](Context& context) { return context.sample(distribution, site.options()); });
  return from_value(value, distribution.discrete());
}

py::object observe(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  static const Names<5> names("observe", 1, 3,
                              {"distribution", "name", "value", "address", "index"});
  const auto [what, name, value, address, index] = names.read(arguments, count, keywords);
  const Distribution& distribution = distribution_of(what);
  const Site site(name, address, index);
  const auto data = value ? std::optional(value_of(value)) : std::nullopt;
  const Value seen = ask_engine("observe", [&](Context& context) {
    return context.observe(distribution, data, site.options());
  });
  return from_value(seen, distribution.discrete());
}

py::object observe_value(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  static const Names<4> names("observe_value", 1, 2, {"value", "name", "address", "index"});
  const auto [what, name, address, index] = names.read(arguments, count, keywords);
  const Value computed = value_of(what);
  const Site site(name, address, index);
  return from_value(ask_engine("observe_value", [&](Context& context) {
    return context.observe_value(computed, site.options());
  }));
}

py::object tag(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  static const Names<4> names("tag", 1, 2, {"value", "name", "address", "index"});
  const auto [what, name, address, index] = names.read(arguments, count, keywords);
  const Value value = value_of(what);
  const Site site(name, address, index);
  ask_engine("tag", [&](Context& context) { context.tag(value, site.options()); });
  return py::none();
}

py::object factor(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  static const Names<4> names("factor", 1, 2, {"log_weight", "name", "address", "index"});
  const auto [what, name, address, index] = names.read(arguments, count, keywords);
  const double log_weight = value_of(what).scalar();
  const Site site(name, address, index);
  ask_engine("factor", [&](Context& context) { context.factor(log_weight, site.options()); });
  return py::none();
}

// What a loop's body and condition are to the engine, which calls them in its time.
class Rounds {
 public:
  Rounds(py::handle body, py::handle accept) : body_(body), accept_(accept) {}

  // The number of a round.
  Value round(EnginesTurn& turn) {
    const ProgramsTurn back(turn);
    results_[++count_] = called(PyObject_CallNoArgs(body_.ptr()));
    return Value(static_cast<double>(count_));
  }
  bool accepts(const Value& round, EnginesTurn& turn) {
    const ProgramsTurn back(turn);
    const auto found = results_.find(round.integer());
    const py::object answer = called(PyObject_CallOneArg(accept_.ptr(), found->second.ptr()));
    const int accepted = PyObject_IsTrue(answer.ptr());
    if (accepted < 0) fail();
    if (accepted == 0) results_.erase(found);
    return accepted == 1;
  }
  py::object result(const Value& round) { return results_.at(round.integer()); }
  // What Python raised, if it did.
  void raise_again() {
    if (!failed_) return;
    PyErr_Restore(type_, value_, traceback_);
    throw Raised();
  }
  struct Failed {};

 private:
  py::object called(PyObject* result) {
    if (!result) fail();
    return py::reinterpret_steal<py::object>(result);
  }
  // Python's own exception must not go through the engine, which does not hold the GIL.
  [[noreturn]] void fail() {
    PyErr_Fetch(&type_, &value_, &traceback_);
    failed_ = true;
    throw Failed();
  }

  py::handle body_, accept_;
  std::map<std::int64_t, py::object> results_;  // of rounds that were not rejected
  std::int64_t count_ = 0;
  bool failed_ = false;
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

py::object until(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  static const Names<2> names("until", 2, 2, {"body", "accept"});
  const auto [body, accept] = names.read(arguments, count, keywords);
  Run& run = require_run("until");
  if (run.abandoned) throw Abandoned();
  Rounds rounds(body, accept);
  std::optional<Value> last;
  try {
    EnginesTurn turn(run);
    last = run.context.until([&] { return rounds.round(turn); },
                             [&](const Value& round) { return rounds.accepts(round, turn); });
  } catch (const Fiber::Unwind&) {
    run.abandoned = true;
  } catch (const Rounds::Failed&) {
  }
  rounds.raise_again();
  if (!last) throw Abandoned();
  return rounds.result(*last);
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
  add_fast_function<sample>(
      module, "sample",
      "sample(distribution, name=None, *, address=None, index=None, control=True)\n--\n\n"
      "Draw a latent random value. The name tells choices apart, and observations and queries "
      "refer\n"
      "to it; without one it is the line of code. `index` is for families: bern_0, bern_1, ... "
      "With\n"
      "control=False it is always drawn from the distribution itself. Whole numbers come back as\n"
      "int, vectors as arrays.");
  add_fast_function<observe>(
      module, "observe",
      "observe(distribution, name=None, value=None, *, address=None, index=None)\n--\n\n"
      "State that a quantity can be measured, and get it: what the user observed under this name,\n"
      "else `value`, the program's own data, else a draw. NaN: nobody tells.");
  add_fast_function<observe_value>(
      module, "observe_value",
      "observe_value(value, name=None, *, address=None, index=None)\n--\n\n"
      "State that a quantity can be measured which the program computes, so that it has no "
      "density:\n"
      "for inference networks, which need none, and surrogates, which learn one. Returns what the\n"
      "user observed under this name, else the value itself.");
  add_fast_function<tag>(module, "tag",
                         "tag(value, name=None, *, address=None, index=None)\n--\n\n"
                         "Record a derived quantity.");
  add_fast_function<factor>(
      module, "factor",
      "factor(log_weight, name=None, *, address=None, index=None)\n--\n\n"
      "Multiply the weight of the run by exp(log_weight); -inf rules the run out.");
  add_fast_function<until>(
      module, "until",
      "until(body, accept)\n--\n\n"
      "A rejection loop: calls body() until accept() holds for what it returned, and returns "
      "that.\n"
      "Inference then need not explain the rejected rounds. More rounds may be run than the loop\n"
      "needs, so both must leave nothing behind but what body returns; inside there are no\n"
      "observations and no factors.");
  py::class_<ScopeGuard>(module, "scope",
                         "with psn.scope(\"floor\", 2): prefixes the addresses of all choices "
                         "within.")
      .def(py::init<std::string, std::optional<std::int64_t>>(), "name"_a, "index"_a = py::none())
      .def("__enter__", &ScopeGuard::enter)
      .def("__exit__", [](ScopeGuard& scope, const py::args&) { scope.leave(); });
}

}  // namespace psn::python
