#include "python/core/value.h"

#include <algorithm>
#include <cmath>

namespace psn::python {

std::optional<Value> to_value(py::handle object) {
  PyObject* const pointer = object.ptr();
  if (PyFloat_Check(pointer)) return Value(PyFloat_AS_DOUBLE(pointer));
  if (PyLong_Check(pointer)) {
    const double number = PyLong_AsDouble(pointer);
    if (!PyErr_Occurred()) return Value(number);
    PyErr_Clear();
    return std::nullopt;
  }
  if (pointer == Py_None || PyUnicode_Check(pointer) || PyBytes_Check(pointer)) return std::nullopt;
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(object);
  if (!array) {
    PyErr_Clear();
    return std::nullopt;
  }
  if (array.ndim() == 0) return Value(*array.data());
  const double* const first = array.data();
  return Value(std::vector<double>(first, first + array.size()),
               Shape(array.shape(), array.shape() + array.ndim()));
}

py::object from_value(const Value& value, bool whole) {
  whole = whole && std::none_of(value.begin(), value.end(), [](double x) { return std::isnan(x); });
  if (value.is_scalar()) {
    return whole ? py::object(py::int_(value.integer())) : py::object(py::float_(value.scalar()));
  }
  const Shape shape = value.shape();
  if (!whole) return py::array_t<double>(shape, value.data());
  py::array_t<std::int64_t> numbers(shape);
  std::copy(value.begin(), value.end(), numbers.mutable_data());
  return numbers;
}

py::array view_of(const std::vector<double>& numbers, const Shape& shape, py::handle owner) {
  py::array_t<double> view(shape, numbers.data(), owner);
  view.attr("flags").attr("writeable") = false;
  return view;
}

}  // namespace psn::python
