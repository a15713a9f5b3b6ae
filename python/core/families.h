#pragma once

#include <pybind11/pybind11.h>

namespace psn::python {

namespace py = pybind11;

// psn.Distribution, and a function for each family.
void bind_families(py::module_& module);

}  // namespace psn::python
