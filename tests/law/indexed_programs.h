// Programs whose indices do what loops do: run, start anew, interleave, jump and run down. Each
// says which addresses it can make.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "psn/core/model.h"

namespace psn::test {

struct IndexedProgram {
  Model model;
  // Of indexed choices. Random weights take any way among the known transitions, so this is about
  // single addresses.
  std::function<bool(const std::string& site, std::int64_t index)> can_make;
  std::size_t transitions;  // enough for all of its traces
};

inline bool again(Context& ctx, const char* name, std::optional<std::int64_t> index = {}) {
  return ctx.sample(Bernoulli(0.6), {.name = name, .index = index}) == 1;
}

// A loop of random length, then a list.
inline Value loop_then_list(Context& ctx) {
  for (std::int64_t i = 0; again(ctx, "event", i);) ++i;
  for (std::int64_t i = 0; i < 5; ++i) ctx.sample(Normal(0, 1), {.name = "reported", .index = i});
  return {};
}

// The inner index starts anew in every round; the outer loop's sites go on where they were.
inline Value loop_in_loop(Context& ctx) {
  std::int64_t i = 0;
  do {
    ctx.sample(Normal(0, 1), {.name = "outer", .index = i});
    for (std::int64_t j = 0; again(ctx, "inner", j);) ++j;
    ctx.sample(Normal(0, 1), {.name = "then", .index = i});
    ++i;
  } while (again(ctx, "more"));
  return {};
}

// An inner loop in a scope of its own, and a site that some rounds leave out: only the scope of the
// outer loop knows its index.
inline Value scopes(Context& ctx) {
  std::int64_t i = 0;
  do {
    const bool visits = again(ctx, "outer", i);
    {
      const auto scope = ctx.scope("inner");
      for (std::int64_t j = 0; again(ctx, "step", j);) ++j;
    }
    if (visits) ctx.sample(Normal(0, 1), {.name = "sometimes", .index = i});
    ++i;
  } while (again(ctx, "more"));
  return {};
}

inline Value interleaved(Context& ctx) {
  std::int64_t left = 0, right = 0;
  do {
    if (again(ctx, "which")) {
      ctx.sample(Normal(0, 1), {.name = "left", .index = left++});
    } else {
      ctx.sample(Normal(0, 1), {.name = "right", .index = right++});
    }
  } while (again(ctx, "more"));
  return {};
}

inline Value strides(Context& ctx) {
  for (std::int64_t i = 5; again(ctx, "every", i);) i += 10;
  return {};
}

inline Value jumps(Context& ctx) {
  do {
    const auto where =
        ctx.sample(Categorical(Value(std::vector<double>(8, 0.125))), {.name = "to"});
    ctx.sample(Normal(0, 1), {.name = "cell", .index = where.integer()});
  } while (again(ctx, "more"));
  return {};
}

inline Value countdown(Context& ctx) {
  const auto from = ctx.sample(Categorical(Value(std::vector<double>(6, 1.0 / 6))), {.name = "n"});
  for (std::int64_t i = from.integer(); i >= 0; --i) {
    ctx.sample(Normal(0, 1), {.name = "left", .index = i});
  }
  return {};
}

inline std::vector<IndexedProgram> indexed_programs() {
  const auto natural = [](const std::string&, std::int64_t index) { return index >= 0; };
  return {
      {{"loop-then-list", loop_then_list},
       [](const std::string& site, std::int64_t index) {
         return index >= 0 && (site != "reported" || index < 5);
       },
       5},
      {{"loop-in-loop", loop_in_loop}, natural, 7},
      {{"scopes", scopes}, natural, 9},
      {{"interleaved", interleaved}, natural, 9},
      {{"strides", strides},
       [](const std::string&, std::int64_t index) { return index >= 0 && index % 10 == 5; },
       3},
      {{"jumps", jumps},
       [](const std::string&, std::int64_t index) { return index >= 0 && index < 8; },
       20},
      {{"countdown", countdown},
       [](const std::string&, std::int64_t index) { return index >= 0 && index < 6; },
       9},
  };
}

}  // namespace psn::test
