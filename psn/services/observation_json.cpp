#include "psn/services/observation_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "psn/base/numerics.h"

namespace psn::services {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxDepth = 16;

void flatten(const Json& node, std::size_t depth, Shape& shape, std::vector<double>& components) {
  if (node.is_number() || node.is_null()) {
    if (depth != shape.size()) throw std::runtime_error("a ragged array");
    components.push_back(node.is_null() ? kNaN : node.get<double>());
    return;
  }
  if (!node.is_array()) {
    throw std::runtime_error("neither a number, nor null, nor an array of such");
  }
  if (depth == kMaxDepth) throw std::runtime_error("nested too deeply");
  if (depth == shape.size() && components.empty()) {
    shape.push_back(static_cast<std::int64_t>(node.size()));
  } else if (depth >= shape.size() || shape[depth] != static_cast<std::int64_t>(node.size())) {
    throw std::runtime_error("a ragged array");
  }
  for (const Json& element : node) flatten(element, depth + 1, shape, components);
}

}  // namespace

Value value_of(const Json& node) {
  Shape shape;
  std::vector<double> components;
  flatten(node, 0, shape, components);
  if (components.empty()) throw std::runtime_error("no values");
  return {std::move(components), std::move(shape)};
}

}  // namespace psn::services
