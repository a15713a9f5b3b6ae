#pragma once

#include <pybind11/pybind11.h>

namespace psn::python {

namespace py = pybind11;

// Recipes of training: presets, and what of them is set by hand, from the tables of fields.
void bind_recipes(py::module_& module);

}  // namespace psn::python
