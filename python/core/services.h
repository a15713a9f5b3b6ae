// What a person asks for, as Python's functions: options, results, and the calls.
#pragma once

#include <pybind11/pybind11.h>

namespace psn::python {

namespace py = pybind11;

void bind_jobs(py::module_& module);
void bind_results(py::module_& module);
void bind_evidence(py::module_& module);
void bind_services(py::module_& module);  // after all jobs and results
void bind_reading(py::module_& module);

}  // namespace psn::python
