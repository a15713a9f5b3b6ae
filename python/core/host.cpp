#include "python/core/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>

#include "apps/psn/built_in_models.h"
#include "psn/base/error.h"
#include "psn/base/text.h"
#include "python/core/errors.h"

namespace psn::python {
namespace {

constexpr std::chrono::milliseconds kLook{50}, kPatience{2000};

}  // namespace

PythonHost::PythonHost(const py::dict& programs, py::object progress)
    : progress_(std::move(progress)) {
  for (const auto& [name, function] : programs) {
    programs_.push_back(
        std::make_unique<Program>(name.cast<std::string>(), function.cast<py::function>()));
  }
}

std::vector<Model> PythonHost::models() const {
  std::vector<Model> models;
  for (const auto& program : programs_) models.push_back(program->model());
  for (Model& model : app::built_in_models()) models.push_back(std::move(model));
  return models;
}

void PythonHost::work_begins(const services::Work& work) {
  const std::lock_guard lock(mutex_);
  label_ = work.label;
  total_ = work.total;
  note_.clear();
  begun_ = Clock::now();
  begun_with_ = 0;
  at_work_ = true;
}

void PythonHost::work_goes_on_from(std::uint64_t traces) {
  Host::work_goes_on_from(traces);
  const std::lock_guard lock(mutex_);
  begun_ = Clock::now();
  begun_with_ = traces;
}

void PythonHost::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  note_ = text;
}

void PythonHost::work_ends() {
  const std::lock_guard lock(mutex_);
  at_work_ = false;
}

std::exception_ptr PythonHost::look_after(const std::function<void()>& work) {
  interruption_ = {};
  stopped_.reset();
  monitor().stop.store(false);
  monitor().traces.store(0);
  std::exception_ptr error;
  bool done = false;
  std::mutex mutex;
  std::condition_variable ended;
  const py::gil_scoped_release free;
  std::thread worker([&] {
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    ended.notify_one();
  });
  for (std::unique_lock lock(mutex); !ended.wait_for(lock, kLook, [&] { return done; });) {
    lock.unlock();
    {
      const py::gil_scoped_acquire python;
      if (!look()) stop();
    }
    lock.lock();
  }
  worker.join();
  return error;
}

bool PythonHost::look() {
  if (PyErr_CheckSignals() != 0) return false;
  if (stopped_ && Clock::now() > *stopped_ + kPatience) {
    for (const auto& program : programs_) program->interrupt();
    stopped_ = Clock::now();
  }
  if (progress_.is_none() || stopped_) return true;
  show();
  return PyErr_Occurred() == nullptr;
}

void PythonHost::show() {
  const std::uint64_t traces = monitor().traces.load();
  py::object label = py::none();
  std::string text;
  std::uint64_t total = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!at_work_) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    const double rate =
        static_cast<double>(traces - std::min(traces, begun_with_)) / std::max(1e-9, seconds);
    label = py::str(label_);
    total = total_;
    text = progress_text(traces, total, rate, note_);
  }
  const auto told = py::reinterpret_steal<py::object>(PyObject_CallFunction(
      progress_.ptr(), "OKKs", label.ptr(), static_cast<unsigned long long>(traces),
      static_cast<unsigned long long>(total), text.c_str()));
}

// Keeps what was raised first, to raise it when the work has stopped.
void PythonHost::stop() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (!interruption_) interruption_ = py::reinterpret_borrow<py::object>(value);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  if (!stopped_) stopped_ = Clock::now();
  monitor().stop.store(true);
}

void PythonHost::interrupted_with(const std::string& left) {
  interruption_ = py::handle(PyExc_KeyboardInterrupt)("interrupted" + left);
}

void PythonHost::finish(const std::exception_ptr& error) {
  if (!progress_.is_none()) progress_(py::none(), 0, 0, "");
  if (interruption_) {
    if (error && PyErr_GivenExceptionMatches(interruption_.ptr(), PyExc_KeyboardInterrupt) != 0) {
      try {
        std::rethrow_exception(error);
      } catch (const Interrupted& interrupted) {
        interruption_ = py::handle(PyExc_KeyboardInterrupt)(interrupted.what());
      } catch (...) {  // what went wrong on the way out matters less
      }
    }
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(interruption_.ptr())), interruption_.ptr());
    throw py::error_already_set();
  }
  if (!error) return;
  py::object cause;
  for (const auto& program : programs_) {
    if (program->last_exception()) cause = program->last_exception();
  }
  raise(error, cause);
}

}  // namespace psn::python
