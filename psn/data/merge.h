// Several stores of one model as one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "psn/data/store.h"

namespace psn::data {

// Writes the traces of `sources`, one store after the other, to a new store at `path`, which is
// there when all of it is. `progress` is told of each trace; it may throw. Throws InvalidArgument
// for stores of different models, or with the same traces.
std::uint64_t merge(const std::vector<std::string>& sources, const std::string& path,
                    const std::function<void()>& progress = {});

}  // namespace psn::data
