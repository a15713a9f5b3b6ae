// A Python function as a Model, and what it may ask for while it runs.
//
// The function runs on the fiber of its simulation, with a thread state of Python's own, and with
// the GIL; whenever it asks the engine for something the GIL is given back. One run of it is under
// way at a time. A run that the engine gives up is ended by an exception, `Abandoned`, so that
// `finally` and `with` do what they promise.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <string>

#include "psn/core/model.h"

namespace psn::python {

namespace py = pybind11;

class Program {
 public:
  Program(std::string name, py::function function);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Of a program that must outlive it.
  Model model();

  // What its last failed run raised, with its traceback, or where the last one was when it was
  // abandoned; null: nothing. With the GIL.
  py::object last_exception() const { return last_; }
  // Raises KeyboardInterrupt in a run that asks for nothing any more. With the GIL.
  void interrupt();

 private:
  Value run(Context& context);
  [[noreturn]] void fail(bool abandoned);

  const std::string name_;
  py::object function_, last_;
  std::atomic<unsigned long> thread_{0};  // of Python's, that it runs on; 0: it does not
};

// sample, observe, tag, factor and scope.
void bind_choices(py::module_& module);

}  // namespace psn::python
