// Values as Python's numbers and numpy's arrays, in both directions. With the GIL.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>

#include "psn/core/value.h"

namespace psn::python {

namespace py = pybind11;

// A number, or anything that numpy takes for an array of numbers; None in a list is a gap. nullopt:
// it is none of these.
std::optional<Value> to_value(py::handle object);
// A float, or an array of its own; `whole`: an int, or an array of ints, if there is no gap.
py::object from_value(const Value& value, bool whole = false);

// An array of memory that `owner` keeps alive; nobody may write there.
py::array view_of(const std::vector<double>& numbers, const Shape& shape, py::handle owner);

}  // namespace psn::python

namespace pybind11::detail {

template <>
struct type_caster<psn::Value> {
  PYBIND11_TYPE_CASTER(psn::Value, const_name("float | numpy.ndarray"));

  bool load(handle source, bool /*convert*/) {
    auto loaded = psn::python::to_value(source);
    if (loaded) value = std::move(*loaded);
    return loaded.has_value();
  }
  static handle cast(const psn::Value& value, return_value_policy /*policy*/, handle /*parent*/) {
    return psn::python::from_value(value).release();
  }
};

}  // namespace pybind11::detail
