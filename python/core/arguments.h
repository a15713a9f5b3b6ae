// Functions that are called at every choice of a program, as Python calls them fastest: a third of
// what pybind11 takes.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>

#include "psn/core/distribution.h"

namespace psn::python {

namespace py = pybind11;

// Python is raising an exception already.
struct Raised {};

// What is thrown, as Python's.
void set_raised(const std::exception_ptr& thrown);

// Names of arguments: so many must be given, and so many may be without their name.
template <std::size_t N>
class Names {
 public:
  Names(const char* function, std::size_t required, std::size_t positional,
        const std::array<const char*, N>& names)
      : function_(function), required_(required), positional_(positional) {
    for (std::size_t i = 0; i < N; ++i) names_[i] = PyUnicode_InternFromString(names[i]);
  }

  // By place; null: not given. Throws Raised.
  std::array<PyObject*, N> read(PyObject* const* arguments, Py_ssize_t count,
                                PyObject* keywords) const {
    std::array<PyObject*, N> values{};
    const auto given = static_cast<std::size_t>(count);
    if (given > positional_) {
      PyErr_Format(PyExc_TypeError, "%s() takes %zu arguments without a name, not %zu", function_,
                   positional_, given);
      throw Raised();
    }
    std::copy(arguments, arguments + count, values.begin());
    const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    for (Py_ssize_t k = 0; k < named; ++k) {
      PyObject* const name = PyTuple_GET_ITEM(keywords, k);
      PyObject*& value = values[place(name)];
      if (value) {
        PyErr_Format(PyExc_TypeError, "%s() got '%U' twice", function_, name);
        throw Raised();
      }
      value = arguments[count + k];
    }
    for (PyObject*& value : values) {
      if (value == Py_None) value = nullptr;
    }
    for (std::size_t i = 0; i < required_; ++i) {
      if (values[i]) continue;
      PyErr_Format(PyExc_TypeError, "%s() needs '%U'", function_, names_[i]);
      throw Raised();
    }
    return values;
  }

 private:
  std::size_t place(PyObject* name) const {
    for (std::size_t i = 0; i < N; ++i) {
      if (names_[i] == name) return i;
    }
    for (std::size_t i = 0; i < N; ++i) {
      if (PyUnicode_Compare(names_[i], name) == 0) return i;
    }
    PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'", function_, name);
    throw Raised();
  }

  const char* function_;
  std::size_t required_, positional_;
  std::array<PyObject*, N> names_{};
};

// Of an argument; null: none. All throw Raised if it is of another type.
std::string_view text_of(PyObject* argument);
std::optional<std::int64_t> whole_of(PyObject* argument);
Value value_of(PyObject* argument);
const Distribution& distribution_of(PyObject* argument);

using FastFunction = py::object (*)(PyObject* const* arguments, Py_ssize_t count,
                                    PyObject* keywords);

// What Python calls: f, whose exceptions become Python's.
template <FastFunction f>
PyObject* fast_function(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* keywords) {
  try {
    return f(arguments, count, keywords).release().ptr();
  } catch (const Raised&) {
  } catch (...) {
    set_raised(std::current_exception());
  }
  return nullptr;
}

// Adds it; `text` is its signature, a line "--", an empty line and its description. Both texts must
// live as long as the module.
template <FastFunction f>
void add_fast_function(py::module_& module, const char* name, const char* text) {
  static PyMethodDef method{};
  method = {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&fast_function<f>)),
            METH_FASTCALL | METH_KEYWORDS, text};
  module.add_object(name, PyCFunction_NewEx(&method, nullptr, module.attr("__name__").ptr()));
}

}  // namespace psn::python
