#include "psn/nn/network_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/nn/field_json.h"
#include "psn/nn/steps.h"

namespace psn {

using nlohmann::json;

void JsonReader::fail(std::string_view what) const {
  throw DataError(fmt::format("'{}': {}", label_, what));
}

void JsonReader::fail_member(const char* key) const {
  fail(fmt::format("'{}' is missing or not what it should be", key));
}

json JsonReader::parse(const std::string& text, std::string_view what) const {
  constexpr int kMaxDepth = 8;
  try {
    return json::parse(text, [&](int depth, json::parse_event_t, json&) {
      if (depth > kMaxDepth) fail(fmt::format("'{}' is nested too deeply", what));
      return true;
    });
  } catch (const json::exception&) {
    fail(fmt::format("'{}' is not JSON", what));
  }
}

namespace {

template <class Layers>
json layers_json(const Fields<Layers>& fields, const std::map<std::string, Layers>& by_name) {
  json result = json::object();
  for (const auto& [name, layers] : by_name) result[name] = fields_json(fields, layers);
  return result;
}

template <class Layers>
void read_layers(const JsonReader& reader, const json& object, const Fields<Layers>& fields,
                 const char* general, Layers& others, const char* named,
                 std::map<std::string, Layers>& by_name) {
  read_fields(reader, reader.get<json>(object, general), fields, others);
  const auto list = reader.get<json>(object, named);
  if (!list.is_object()) reader.fail(fmt::format("'{}' is not an object", named));
  for (const auto& [name, layers] : list.items()) {
    read_fields(reader, layers, fields, by_name[name]);
  }
}

Shape read_shape(const JsonReader& reader, const json& entry) {
  Shape shape;
  const auto extents = reader.get<json>(entry, "shape");
  if (!extents.is_array()) reader.fail("a shape is no list of extents");
  for (const json& item : extents) {
    if (!item.is_number_unsigned()) reader.fail("a shape is no list of extents");
    shape.push_back(item.get<std::int64_t>());
  }
  return shape;
}

ValueType read_value_type(const JsonReader& reader, const json& entry) {
  ValueType value;
  const auto family = reader.get<std::string>(entry, "family");
  const auto known = find_family(family);
  if (!known) reader.fail(fmt::format("unknown family '{}'", family));
  value.family = *known;
  value.shape = read_shape(reader, entry);
  value.categories = reader.get<std::uint32_t>(entry, "categories");
  value.mixture = reader.get<std::uint32_t>(entry, "mixture");
  if ((value.family == family_of<Categorical>) != (value.categories > 0)) {
    reader.fail(fmt::format("{} categories of a {}", value.categories, family));
  }
  if ((value.family == family_of<Mixture>) != (value.mixture > 0)) {
    reader.fail(fmt::format("{} components of a {}", value.mixture, family));
  }
  if (const auto wrong = value.problem()) reader.fail(*wrong);
  return value;
}

}  // namespace

// In the order of Base.
constexpr std::array<const char*, kBases> kBaseNames{"none", "last", "own", "scope", "absolute"};

std::string_view base_name(Base base) {
  return kBaseNames[static_cast<std::size_t>(base)];
}

json to_json(const Place& place) {
  if (place.base == Base::kNone) return place.node;
  return {{"node", place.node}, {"base", base_name(place.base)}, {"offset", place.offset}};
}

Place read_place(const JsonReader& reader, const json& entry) {
  if (!entry.is_object()) return {reader.get<NodeId>({{"successors", entry}}, "successors")};
  Place place{reader.get<NodeId>(entry, "node")};
  const auto name = reader.get<std::string>(entry, "base");
  const auto* known = std::find(kBaseNames.begin() + 1, kBaseNames.end(), name);
  if (known == kBaseNames.end()) reader.fail(fmt::format("unknown base '{}'", name));
  place.base = static_cast<Base>(known - kBaseNames.begin());
  place.offset = reader.get<std::int64_t>(entry, "offset");
  return place;
}

namespace {

IndexRange read_range(const JsonReader& reader, const json& entry) {
  const IndexRange range{reader.get<std::int64_t>(entry, "low"),
                         reader.get<std::int64_t>(entry, "high"),
                         reader.get<std::uint32_t>(entry, "low_traces"),
                         reader.get<std::uint32_t>(entry, "high_traces")};
  const auto right = [](std::uint32_t traces) {
    return traces > 0 && traces <= IndexRange::kOften;
  };
  if (range.low > range.high || !right(range.low_traces) || !right(range.high_traces)) {
    reader.fail("a range of indices is impossible");
  }
  return range;
}

}  // namespace

json to_json(const NetworkConfig& config) {
  json result = fields_json(network_fields(), config);
  const auto& variable = variable_layer_fields();
  result["variable_layers"] = fields_json(variable, config.variable_layers);
  result["variable_embedding"] = layers_json(variable, config.variable_embedding);
  if (config.purpose == Purpose::kInference) {
    const auto& observation = observation_layer_fields();
    result["observation_layers"] = fields_json(observation, config.observation_layers);
    result["observe_embedding"] = layers_json(observation, config.observe_embedding);
  }
  return result;
}

NetworkConfig read_config(const JsonReader& reader, const json& object) {
  NetworkConfig config;
  read_fields(reader, object, network_fields(), config);
  read_layers(reader, object, variable_layer_fields(), "variable_layers", config.variable_layers,
              "variable_embedding", config.variable_embedding);
  if (config.purpose == Purpose::kInference) {
    read_layers(reader, object, observation_layer_fields(), "observation_layers",
                config.observation_layers, "observe_embedding", config.observe_embedding);
  }
  if (const auto wrong = config.problem()) reader.fail(*wrong);
  return config;
}

json to_json(const Node& node, NodeId id) {
  json result = {{"successors", json::array()}};
  for (const Place& place : node.successors) result["successors"].push_back(to_json(place));
  if (id <= Network::kEnd) return result;
  result.update({{"scope", node.scope},
                 {"base", node.base},
                 {"name", node.site_name},
                 {"type", node.type},
                 {"instance", node.instance},
                 {"role", role_name(node.role)},
                 {"control", node.control},
                 {"family", family_name(node.value.family)},
                 {"shape", node.value.shape},
                 {"categories", node.value.categories},
                 {"mixture", node.value.mixture},
                 {"bounds_vary", node.scaling.bounds_vary},
                 {"may_be_missing", node.may_be_missing}});
  if (node.index) result["index"] = *node.index;
  if (const auto& range = node.range) {
    result["indices"] = {{"low", range->low},
                         {"high", range->high},
                         {"low_traces", range->low_traces},
                         {"high_traces", range->high_traces}};
  }
  return result;
}

std::string variable_text(const Node& node) {
  return fmt::format("{}{}__{}", node.scope, indexed_name(node.base, node.index), node.type);
}

namespace {

Role read_role(const JsonReader& reader, const json& entry, bool tags, const std::string& address) {
  const auto name = reader.get<std::string>(entry, "role");
  for (const Role role : {Role::kSample, Role::kObserve, Role::kTag, Role::kFinish}) {
    if (name == role_name(role) && (tags || !is_derived(role))) return role;
  }
  reader.fail(fmt::format("'{}' has the role '{}'", address, name));
}

// The type of a random choice is that of its distribution; what is computed has a word of its own.
bool has_its_type(const Node& node) {
  const ValueType& value = node.value;
  if (is_derived(node)) return value.family == family_of<Normal>;
  return node.type == type_name(value.family, value.categories, value.shape);
}

}  // namespace

Node read_node(const JsonReader& reader, const json& entry, const NetworkConfig& config) {
  Node node;
  node.scope = reader.get<std::string>(entry, "scope");
  node.base = reader.get<std::string>(entry, "base");
  node.site_name = reader.get<std::string>(entry, "name");
  node.type = reader.get<std::string>(entry, "type");
  if (entry.contains("index")) node.index = reader.get<std::int64_t>(entry, "index");
  node.instance = reader.get<std::uint32_t>(entry, "instance");
  node.name = node.site_name.empty() ? "" : indexed_name(node.site_name, node.index);
  node.text = variable_text(node);
  if (node.instance > 0) node.text += fmt::format("__{}", node.instance);
  if (!is_printable(node.text) || !is_printable(node.name)) {
    reader.fail(fmt::format("name or address '{}' is not printable UTF-8", escaped(node.text)));
  }
  node.role = read_role(reader, entry, config.tags, node.text);
  const bool observation = config.purpose == Purpose::kInference && node.role == Role::kObserve;
  const bool list = observation && node.instance == 0 && !node.index &&
                    config.observation_layers_of(node.name, node.site_name).shared;
  if (!list && (config.addressing == Addressing::kInstance || observation) != (node.instance > 0)) {
    reader.fail(fmt::format("'{}' has instance {}", node.text, node.instance));
  }
  const bool shares_indices = config.addressing == Addressing::kShared && !observation;
  if (shares_indices && node.index) {
    reader.fail(fmt::format("'{}' has an index of its own", node.text));
  }
  if (entry.contains("indices")) {
    if (!shares_indices) reader.fail(fmt::format("'{}' has a range of indices", node.text));
    node.range = read_range(reader, reader.get<json>(entry, "indices"));
  }
  node.control = reader.get<bool>(entry, "control");
  node.value = read_value_type(reader, entry);
  const ValueType& value = node.value;
  if (config.purpose == Purpose::kSurrogate) {
    if (const auto wrong = value.head_problem()) reader.fail(*wrong);
  }
  if (!has_its_type(node)) {
    reader.fail(fmt::format("'{}' says to be a {}, which it is not", node.text, node.type));
  }
  if (value.family == family_of<Mixture> && value.mixture != config.mixture_components) {
    reader.fail(fmt::format("'{}' has {} components", node.text, value.mixture));
  }
  node.scaling.bounds_vary = reader.get<bool>(entry, "bounds_vary");
  node.may_be_missing = reader.get<bool>(entry, "may_be_missing");
  return node;
}

}  // namespace psn
