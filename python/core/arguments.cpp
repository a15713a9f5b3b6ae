#include "python/core/arguments.h"

#include "python/core/value.h"

namespace psn::python {

std::string_view text_of(PyObject* argument) {
  if (!argument) return {};
  if (!PyUnicode_Check(argument)) {
    PyErr_Format(PyExc_TypeError, "a name is a str, not a %s", Py_TYPE(argument)->tp_name);
    throw Raised();
  }
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(argument, &size);
  if (!text) throw Raised();
  return {text, static_cast<std::size_t>(size)};
}

std::optional<std::int64_t> whole_of(PyObject* argument) {
  if (!argument) return std::nullopt;
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(argument));
  if (!number) throw Raised();
  const std::int64_t whole = PyLong_AsLongLong(number.ptr());
  if (whole == -1 && PyErr_Occurred()) throw Raised();
  return whole;
}

Value value_of(PyObject* argument) {
  if (auto value = to_value(argument)) return std::move(*value);
  PyErr_Format(PyExc_TypeError, "a %s is no number and no array of numbers",
               Py_TYPE(argument)->tp_name);
  throw Raised();
}

const Distribution& distribution_of(PyObject* argument) {
  static const auto* const type =
      reinterpret_cast<const PyTypeObject*>(py::type::of<Distribution>().ptr());
  if (Py_TYPE(argument) != type) {
    PyErr_Format(PyExc_TypeError, "a %s is no distribution", Py_TYPE(argument)->tp_name);
    throw Raised();
  }
  // Where pybind11 keeps the object of a class without bases.
  const auto* const instance = reinterpret_cast<const py::detail::instance*>(argument);
  return *static_cast<const Distribution*>(instance->simple_value_holder[0]);
}

}  // namespace psn::python
