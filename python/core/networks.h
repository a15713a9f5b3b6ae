// Networks and trace stores as Python's objects.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "psn/core/trace.h"

namespace psn::python {

namespace py = pybind11;

// A trace, and the table that its addresses are of.
struct StoredTrace {
  std::shared_ptr<AddressTable> addresses;
  Trace trace;
};

void bind_networks(py::module_& module);
void bind_stores(py::module_& module);

}  // namespace psn::python
