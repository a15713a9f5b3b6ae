#include "python/core/program.h"

#include <fmt/format.h>

#include <vector>

#include "psn/base/error.h"
#include "psn/core/fiber.h"
#include "python/core/errors.h"
#include "python/core/run.h"
#include "python/core/value.h"

namespace psn::python {
namespace {

// A megabyte less than what threads of Debian's get.
constexpr std::size_t kStack = std::size_t{7} << 20;

// Python's records of a thread that runs programs. Each run under way has one of its own, since its
// frames stay where they are while another goes on.
class ThreadStates {
 public:
  ~ThreadStates() {
    if (!Py_IsInitialized()) return;
    for (PyThreadState* state : idle_) {
      PyEval_RestoreThread(state);
      PyThreadState_Clear(state);
      PyThreadState_DeleteCurrent();
    }
  }
  PyThreadState* take() {
    if (idle_.empty()) return PyThreadState_New(PyInterpreterState_Main());
    PyThreadState* const state = idle_.back();
    idle_.pop_back();
    return state;
  }
  void give(PyThreadState* state) { idle_.push_back(state); }

  ThreadStates() = default;
  ThreadStates(const ThreadStates&) = delete;
  ThreadStates& operator=(const ThreadStates&) = delete;

 private:
  std::vector<PyThreadState*> idle_;
};

ThreadStates& thread_states() {
  thread_local ThreadStates states;
  return states;
}

// Python, from a thread of psn's, for as long as a run takes.
class InPython {
 public:
  explicit InPython(Context& context) : run_{context} {
    PyEval_RestoreThread(thread_states().take());
    set_current_run(&run_);
  }
  ~InPython() {
    set_current_run(nullptr);
    thread_states().give(PyEval_SaveThread());
  }
  InPython(const InPython&) = delete;
  InPython& operator=(const InPython&) = delete;

  const Run& run() const { return run_; }

 private:
  Run run_;
};

// "ZeroDivisionError: division by zero (shop.py, line 12)".
std::string described(py::handle exception) {
  const auto text_of = [](const py::object& object) {
    PyObject* const text = PyObject_Str(object.ptr());
    if (!text) PyErr_Clear();
    return text ? py::reinterpret_steal<py::str>(text).cast<std::string>() : std::string();
  };
  std::string text = Py_TYPE(exception.ptr())->tp_name;
  if (const std::string what = text_of(py::reinterpret_borrow<py::object>(exception));
      !what.empty()) {
    text += ": " + what;
  }
  py::object place = py::reinterpret_steal<py::object>(PyException_GetTraceback(exception.ptr()));
  if (!place || place.is_none()) return text;
  while (!place.attr("tb_next").is_none()) place = place.attr("tb_next");
  const std::string file = text_of(place.attr("tb_frame").attr("f_code").attr("co_filename"));
  return fmt::format("{} ({}, line {})", text, file.substr(file.find_last_of('/') + 1),
                     place.attr("tb_lineno").cast<int>());
}

// The exception that Python is raising, with its traceback; it is raised no more.
py::object raised() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return py::reinterpret_steal<py::object>(value);
}

}  // namespace

Program::Program(std::string name, py::function function)
    : name_(std::move(name)), function_(std::move(function)) {}

Program::~Program() = default;

Model Program::model() {
  Model model(name_, [this](Context& context) { return run(context); });
  model.reentrant = false;
  model.stack_size = kStack;
  return model;
}

Value Program::run(Context& context) {
  const InPython python(context);
  thread_.store(PyThread_get_thread_ident());
  const auto result = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(function_.ptr()));
  thread_.store(0);
  if (!result) fail(python.run().abandoned);
  if (python.run().abandoned) throw Fiber::Unwind();  // the program made light of it
  if (result.is_none()) return {};
  if (auto value = to_value(result)) return std::move(*value);
  throw std::runtime_error(fmt::format("'{}' returned a {}, which is no number and no array", name_,
                                       Py_TYPE(result.ptr())->tp_name));
}

void Program::fail(bool abandoned) {
  py::object exception = raised();
  if (abandoned) {
    // Where it was matters if there is no better story.
    if (!last_ || is_abandoned(last_)) last_ = std::move(exception);
    exception = {};
    throw Fiber::Unwind();
  }
  const std::string text = described(exception);
  const bool own = is_error(exception);
  last_ = std::move(exception);
  if (own) throw ModelError(text);
  throw std::runtime_error(text);
}

void Program::interrupt() {
  if (const unsigned long thread = thread_.load()) {
    PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt);
  }
}

}  // namespace psn::python
