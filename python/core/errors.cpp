#include "python/core/errors.h"

#include "psn/base/error.h"
#include "python/core/arguments.h"

namespace psn::python {
namespace {

// Exceptions live as long as the module, which lives as long as the process.
struct Types {
  PyObject *error, *invalid, *model, *protocol, *data, *abandoned;
};

Types& types() {
  static Types all{};
  return all;
}

PyObject* type_of(const Error& error) {
  if (dynamic_cast<const InvalidArgument*>(&error)) return types().invalid;
  if (dynamic_cast<const ModelError*>(&error)) return types().model;
  if (dynamic_cast<const ProtocolError*>(&error)) return types().protocol;
  if (dynamic_cast<const DataError*>(&error)) return types().data;
  if (dynamic_cast<const Interrupted*>(&error)) return PyExc_KeyboardInterrupt;
  return types().error;
}

void set(const Error& error) {
  PyErr_SetString(type_of(error), error.what());
}

bool set_if_known(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Abandoned&) {
    PyErr_SetString(types().abandoned, "the engine gave up this run here");
  } catch (const Error& error) {
    set(error);
  } catch (...) {
    return false;
  }
  return true;
}

}  // namespace

void bind_errors(py::module_& module) {
  const auto add = [&](const char* name, const py::object& bases, const char* what) {
    const std::string full = std::string("psn.") + name;
    PyObject* const type = PyErr_NewExceptionWithDoc(full.c_str(), what, bases.ptr(), nullptr);
    if (!type) throw py::error_already_set();
    module.add_object(name, type);
    return type;
  };
  const auto kind = [](PyObject* also) {
    return py::make_tuple(py::handle(types().error), py::handle(also));
  };
  types().error = add("Error", py::handle(PyExc_Exception).cast<py::object>(),
                      "What ends an operation of psn; its line names what is at fault.");
  types().invalid =
      add("InvalidArgument", kind(PyExc_ValueError), "Something was asked for that cannot be.");
  types().model = add("ModelError", kind(PyExc_RuntimeError),
                      "The program did what no probabilistic program may, or failed too often.");
  types().protocol = add("ProtocolError", kind(PyExc_RuntimeError),
                         "A simulator in another process broke its protocol.");
  types().data = add("DataError", kind(PyExc_OSError),
                     "A file is damaged, of the wrong kind, or cannot be read or written.");
  types().abandoned = add("Abandoned", py::handle(PyExc_BaseException).cast<py::object>(),
                          "Ends a run that the engine has given up; to be let through.");
  py::register_exception_translator([](std::exception_ptr thrown) {
    if (!thrown) return;
    if (!set_if_known(thrown)) std::rethrow_exception(thrown);
  });
}

void set_raised(const std::exception_ptr& thrown) {
  if (set_if_known(thrown)) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

bool is_error(py::handle exception) {
  return PyErr_GivenExceptionMatches(exception.ptr(), types().error) != 0;
}

bool is_abandoned(py::handle exception) {
  return PyErr_GivenExceptionMatches(exception.ptr(), types().abandoned) != 0;
}

void raise(const std::exception_ptr& error, const py::object& cause) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    if (!cause || !dynamic_cast<const ModelError*>(&known)) throw;
    set(known);
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyException_SetCause(value, py::object(cause).release().ptr());
    PyErr_Restore(type, value, traceback);
  }
  throw py::error_already_set();
}

}  // namespace psn::python
