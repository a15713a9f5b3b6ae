// psn's errors as Python's exceptions: psn.Error and its kinds, with the same line.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>

namespace psn::python {

namespace py = pybind11;

// Raises psn.Abandoned.
struct Abandoned {};

void bind_errors(py::module_& module);

// Is it a psn.Error, of whatever kind? The exception that ends a run?
bool is_error(py::handle exception);
bool is_abandoned(py::handle exception);

// Raises what is thrown, as Python's; `cause` may be null.
[[noreturn]] void raise(const std::exception_ptr& error, const py::object& cause);

}  // namespace psn::python
