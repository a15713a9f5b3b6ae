// Model: a simulator written in C++, as a probabilistic program.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "psn/core/context.h"

namespace psn {

struct Model {
  Model() = default;

  // `body` is called as body(Context&) and returns a Value, something convertible to one, or
  // nothing.
  template <class Body>
  Model(std::string model_name, Body body, std::string model_description = "")
      : name(std::move(model_name)), description(std::move(model_description)) {
    if constexpr (std::is_void_v<std::invoke_result_t<Body, Context&>>) {
      program = [body = std::move(body)](Context& context) {
        body(context);
        return Value();
      };
    } else {
      program = std::move(body);
    }
  }

  std::string name;
  std::function<Value(Context&)> program;
  std::string description;  // one line, shown by `psn models`
  // false: the program keeps state of its own (static variables, Fortran common blocks), so only
  // one simulation may be under way in a process.
  bool reentrant = true;
  std::size_t stack_size = 256 * 1024;  // of each simulation, in bytes
};

}  // namespace psn
