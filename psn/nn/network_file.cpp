#include "psn/nn/network_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "psn/base/atomic_file.h"
#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/base/tensor_file.h"

namespace psn {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxElements = std::size_t{1} << 26;  // of one value, or of its one-hot form

std::string node_prefix(NodeId id) {
  return fmt::format("node.{}.", id);
}

// Calls visit(name, block) for every block of parameters.
void each_block(const Network& network,
                const std::function<void(const std::string&, BlockId)>& visit) {
  for (std::size_t i = 0; i < network.core().size(); ++i) {
    visit(fmt::format("core.{}.recurrent", i), network.core()[i].recurrent);
    visit(fmt::format("core.{}.bias", i), network.core()[i].bias);
  }
  const auto& projections = network.projections();
  visit("projection.previous_type", projections.previous_type);
  visit("projection.previous_address", projections.previous_address);
  visit("projection.current_type", projections.current_type);
  visit("projection.current_address", projections.current_address);
  visit("projection.instance", projections.instance);
  visit("embedding.type", network.type_embedding());
  visit("embedding.address", network.address_embedding());
  for (NodeId id = 0; id < network.size(); ++id) {
    const Node& node = network.node(id);
    const std::string prefix = node_prefix(id);
    if (id == Network::kEnd) continue;
    visit(prefix + "transition", node.transition);
    if (id == Network::kBegin) continue;
    visit(prefix + "embedding", node.embedding);
    visit(prefix + "transition_hidden", node.transition_hidden);
    for (std::size_t i = 0; i < node.value_layers.size(); ++i) {
      visit(fmt::format("{}value.{}", prefix, i), node.value_layers[i]);
    }
  }
}

Tensor floats(const float* values, std::vector<std::int64_t> shape) {
  const std::size_t count = element_count(shape);
  Tensor tensor{Tensor::Type::kFloat32, std::move(shape), std::string(count * 4, '\0')};
  if (count > 0) std::memcpy(tensor.bytes.data(), values, count * 4);
  return tensor;
}

json layers_json(const VariableLayers& layers) {
  return {{"num_layers", layers.num_layers}, {"hidden_dim", layers.hidden_dim}};
}

json to_json(const NetworkConfig& config) {
  json named = json::object();
  for (const auto& [name, layers] : config.variable_embedding) named[name] = layers_json(layers);
  return {{"addressing", config.addressing == Addressing::kSite ? "site" : "instance"},
          {"lstm_dim", config.lstm_dim},
          {"lstm_depth", config.lstm_depth},
          {"sample_embedding_dim", config.sample_embedding_dim},
          {"address_embedding_dim", config.address_embedding_dim},
          {"distribution_type_embedding_dim", config.distribution_type_embedding_dim},
          {"transition_hidden_dim", config.transition_hidden_dim},
          {"mixture_components", config.mixture_components},
          {"variable_layers", layers_json(config.variable_layers)},
          {"variable_embedding", named}};
}

json to_json(const Node& node, NodeId id) {
  json result = {{"successors", node.successors}};
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
                 {"bounds_vary", node.scaling.bounds_vary}});
  if (node.index) result["index"] = *node.index;
  return result;
}

// Takes a file apart. Every `fail` names the file and what is wrong with it.
class Reader {
 public:
  Reader(const TensorFile& file, const std::string& label) : file_(file), label_(label) {}

  NetworkFile read() {
    const json header = parse("network");
    NetworkFile result;
    result.history = text("history");
    result.optimizer = get<bool>(header, "optimizer");
    const NetworkConfig config = read_config(header);
    expect_core(config);
    result.network = std::make_shared<Network>(config, get<std::uint64_t>(header, "seed"));
    Network& network = *result.network;
    network.parameters().step = get<std::uint64_t>(header, "step");
    const json catalog = parse("catalog");
    if (!catalog.is_array() || catalog.size() < 2) fail("its catalog is not a list of addresses");
    for (std::size_t i = Network::kEnd + 1; i < catalog.size(); ++i) {
      read_node(network, catalog[i], static_cast<NodeId>(i));
    }
    for (std::size_t i = 0; i < catalog.size(); ++i) {
      read_successors(network, catalog[i], static_cast<NodeId>(i));
    }
    read_parameters(network, result.optimizer);
    if (used_.size() != file_.tensors.size()) {
      fail(fmt::format("has {} tensors that no network has", file_.tensors.size() - used_.size()));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw DataError(fmt::format("'{}': {}", label_, what));
  }

  const std::string& text(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    if (found == file_.metadata.end()) fail(fmt::format("has no '{}'", key));
    return found->second;
  }

  json parse(const std::string& key) const {
    constexpr int kMaxDepth = 8;
    try {
      return json::parse(text(key), [&](int depth, json::parse_event_t, json&) {
        if (depth > kMaxDepth) fail(fmt::format("'{}' is nested too deeply", key));
        return true;
      });
    } catch (const json::exception&) {
      fail(fmt::format("'{}' is not JSON", key));
    }
  }

  template <class T>
  T get(const json& object, const char* key) const {
    try {
      const json& value = object.at(key);
      bool right = true;
      if constexpr (std::is_same_v<T, bool>) {
        right = value.is_boolean();
      } else if constexpr (std::is_unsigned_v<T>) {
        right = value.is_number_unsigned() &&
                value.template get<std::uint64_t>() <= std::numeric_limits<T>::max();
      } else if constexpr (std::is_integral_v<T>) {
        right = value.is_number_integer() &&
                (!value.is_number_unsigned() ||
                 value.template get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
      }
      if (right) return value.template get<T>();
    } catch (const json::exception&) {
    }
    fail(fmt::format("'{}' is missing or not what it should be", key));
  }

  VariableLayers read_layers(const json& object) const {
    return {get<std::size_t>(object, "num_layers"), get<std::size_t>(object, "hidden_dim")};
  }

  NetworkConfig read_config(const json& header) const {
    const auto object = get<json>(header, "config");
    NetworkConfig config;
    const auto addressing = get<std::string>(object, "addressing");
    if (addressing != "site" && addressing != "instance") {
      fail(fmt::format("unknown addressing '{}'", addressing));
    }
    config.addressing = addressing == "site" ? Addressing::kSite : Addressing::kInstance;
    config.lstm_dim = get<std::size_t>(object, "lstm_dim");
    config.lstm_depth = get<std::size_t>(object, "lstm_depth");
    config.sample_embedding_dim = get<std::size_t>(object, "sample_embedding_dim");
    config.address_embedding_dim = get<std::size_t>(object, "address_embedding_dim");
    config.distribution_type_embedding_dim =
        get<std::size_t>(object, "distribution_type_embedding_dim");
    config.transition_hidden_dim = get<std::size_t>(object, "transition_hidden_dim");
    config.mixture_components = get<std::size_t>(object, "mixture_components");
    config.variable_layers = read_layers(get<json>(object, "variable_layers"));
    const auto named = get<json>(object, "variable_embedding");
    if (!named.is_object()) fail("'variable_embedding' is not an object");
    for (const auto& [name, layers] : named.items()) {
      config.variable_embedding[name] = read_layers(layers);
    }
    if (const auto wrong = config.problem()) fail(*wrong);
    return config;
  }

  // A tensor of exactly this type and shape.
  const Tensor& expect(const std::string& name, Tensor::Type type,
                       const std::vector<std::int64_t>& shape) {
    const auto found = file_.tensors.find(name);
    if (found == file_.tensors.end()) fail(fmt::format("has no tensor '{}'", name));
    const Tensor& tensor = found->second;
    if (tensor.type != type || tensor.shape != shape) {
      fail(fmt::format("tensor '{}' has shape [{}] or a type that is not the network's", name,
                       fmt::join(tensor.shape, ",")));
    }
    used_.insert(name);
    return tensor;
  }
  const Tensor& expect(const std::string& name, std::size_t rows, std::size_t columns) {
    return expect(name, Tensor::Type::kFloat32,
                  {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
  }

  // Before memory is reserved: the file must hold as much itself.
  void expect_core(const NetworkConfig& config) {
    const std::size_t h = config.lstm_dim;
    for (std::size_t i = 0; i < config.lstm_depth; ++i) {
      expect(fmt::format("core.{}.recurrent", i), 4 * h,
             h + (i == 0 ? config.sample_embedding_dim : h));
    }
    for (const char* when : {"previous", "current"}) {
      expect(fmt::format("projection.{}_type", when), 4 * h,
             config.distribution_type_embedding_dim);
      expect(fmt::format("projection.{}_address", when), 4 * h, config.address_embedding_dim);
    }
  }

  void expect_node(const NetworkConfig& config, const Node& node, NodeId id) {
    const std::string prefix = node_prefix(id);
    expect(prefix + "embedding", config.sample_embedding_dim, node.value.inputs() + 1);
    expect(prefix + "transition_hidden", config.transition_hidden_dim,
           config.lstm_dim + config.sample_embedding_dim + 1);
    const VariableLayers& layers = config.layers_of(node.name, node.site_name);
    std::size_t width = config.lstm_dim;
    for (std::size_t i = 0; i < layers.num_layers; ++i) {
      const std::size_t rows =
          i + 1 == layers.num_layers ? node.value.outputs() : layers.hidden_dim;
      expect(fmt::format("{}value.{}", prefix, i), rows, width + 1);
      width = rows;
    }
  }

  ValueType read_value_type(const json& entry) const {
    ValueType value;
    const auto family = get<std::string>(entry, "family");
    std::size_t which = 0;
    constexpr std::size_t kFamilies = std::variant_size_v<Distribution::Variant>;
    while (which < kFamilies && family_name(static_cast<Family>(which)) != family) ++which;
    if (which == kFamilies) fail(fmt::format("unknown family '{}'", family));
    value.family = static_cast<Family>(which);
    std::size_t elements = 1;
    const auto shape = get<json>(entry, "shape");
    constexpr std::size_t kMaxRank = 16;
    if (!shape.is_array() || shape.size() > kMaxRank) fail("a shape is no list of extents");
    for (const json& item : shape) {
      if (!item.is_number_unsigned()) fail("a shape is no list of extents");
      const auto extent = item.get<std::uint64_t>();
      if (extent < 1 || extent > kMaxElements / elements) fail("a shape is empty or too large");
      elements *= extent;
      value.shape.push_back(static_cast<std::int64_t>(extent));
    }
    value.categories = get<std::uint32_t>(entry, "categories");
    value.mixture = get<std::uint32_t>(entry, "mixture");
    if ((value.family == Family::kCategorical) != (value.categories > 0) ||
        value.categories > kMaxElements / elements) {
      fail(fmt::format("{} categories of a {}", value.categories, family));
    }
    if ((value.family == Family::kMixture) != (value.mixture > 0) ||
        value.mixture > kMaxElements / elements) {
      fail(fmt::format("{} components of a {}", value.mixture, family));
    }
    return value;
  }

  void read_scaling(Node& node, const json& entry, NodeId id) {
    const auto n = static_cast<std::int64_t>(node.value.components());
    const auto values = [&](const char* what) {
      const Tensor& tensor = expect(node_prefix(id) + what, Tensor::Type::kFloat32, {n});
      std::vector<float> result(node.value.components());
      std::memcpy(result.data(), tensor.bytes.data(), tensor.bytes.size());
      return result;
    };
    Scaling& scaling = node.scaling;
    scaling.location = values("location");
    scaling.scale = values("scale");
    scaling.bounds_vary = get<bool>(entry, "bounds_vary");
    const auto bounds = expect(node_prefix(id) + "bounds", Tensor::Type::kFloat64, {2}).doubles();
    scaling.low = bounds[0];
    scaling.high = bounds[1];
    const auto bad = [](float v) { return !std::isfinite(v); };
    if (std::any_of(scaling.location.begin(), scaling.location.end(), bad) ||
        std::any_of(scaling.scale.begin(), scaling.scale.end(),
                    [](float v) { return !(v > 0) || !std::isfinite(v); })) {
      fail(fmt::format("'{}': impossible scaling", node.text));
    }
    const bool whole =
        scaling.high >= 0 && scaling.high == std::floor(scaling.high) && scaling.high < 0x1p53;
    const bool finite = std::isfinite(scaling.low) && std::isfinite(scaling.high);
    const bool right = node.value.family == Family::kBinomial ? whole
                       : node.value.family == Family::kUniform
                           ? finite && scaling.low < scaling.high
                       : node.value.family == Family::kTruncatedNormal
                           ? scaling.low < scaling.high
                           : !std::isnan(scaling.low) && !std::isnan(scaling.high);
    if (!right) fail(fmt::format("'{}': impossible bounds", node.text));
  }

  void read_node(Network& network, const json& entry, NodeId id) {
    Node node;
    node.scope = get<std::string>(entry, "scope");
    node.base = get<std::string>(entry, "base");
    node.site_name = get<std::string>(entry, "name");
    node.type = get<std::string>(entry, "type");
    if (entry.contains("index")) node.index = get<std::int64_t>(entry, "index");
    node.instance = get<std::uint32_t>(entry, "instance");
    if ((network.config().addressing == Addressing::kInstance) != (node.instance > 0)) {
      fail(fmt::format("address {} has instance {}", id, node.instance));
    }
    node.name = node.site_name.empty() ? "" : indexed_name(node.site_name, node.index);
    node.text = fmt::format("{}{}__{}", node.scope, indexed_name(node.base, node.index), node.type);
    if (node.instance > 0) node.text += fmt::format("__{}", node.instance);
    if (!texts_.insert(node.text).second) fail(fmt::format("'{}' is there twice", node.text));
    const auto role = get<std::string>(entry, "role");
    if (role != role_name(Role::kSample) && role != role_name(Role::kObserve)) {
      fail(fmt::format("'{}' has the role '{}'", node.text, role));
    }
    node.role = role == role_name(Role::kSample) ? Role::kSample : Role::kObserve;
    node.control = get<bool>(entry, "control");
    node.value = read_value_type(entry);
    if (node.value.family == Family::kMixture &&
        node.value.mixture != network.config().mixture_components) {
      fail(fmt::format("'{}' has {} components", node.text, node.value.mixture));
    }
    expect_node(network.config(), node, id);
    read_scaling(node, entry, id);
    network.restore_node(std::move(node));
  }

  void read_successors(Network& network, const json& entry, NodeId from) {
    const auto successors = get<json>(entry, "successors");
    if (!successors.is_array()) fail("'successors' is not a list");
    std::vector<NodeId> to;
    for (const json& item : successors) {
      if (!item.is_number_unsigned() || item.get<std::uint64_t>() >= network.size() ||
          item.get<NodeId>() == Network::kBegin || from == Network::kEnd) {
        fail(fmt::format("address {} has an impossible successor", from));
      }
      to.push_back(item.get<NodeId>());
    }
    if (std::set<NodeId>(to.begin(), to.end()).size() != to.size()) {
      fail(fmt::format("address {} has a successor twice", from));
    }
    if (from == Network::kEnd) return;
    network.restore_successors(from, to);
  }

  void read_parameters(Network& network, bool optimizer) {
    Parameters& parameters = network.parameters();
    each_block(network, [&](const std::string& name, BlockId id) {
      const Block& block = parameters.block(id);
      read_plane(name, block, parameters.values(id));
      if (!optimizer) return;
      read_plane("first_moment." + name, block, parameters.first_moments(id));
      const float* second = parameters.second_moments(id);
      read_plane("second_moment." + name, block, parameters.second_moments(id));
      if (std::any_of(second, second + std::size_t{block.rows} * block.columns,
                      [](float v) { return v < 0; })) {
        fail(fmt::format("tensor 'second_moment.{}' has negative numbers", name));
      }
      const auto births =
          expect("birth." + name, Tensor::Type::kFloat64, {static_cast<std::int64_t>(block.rows)})
              .doubles();
      for (std::size_t row = 0; row < births.size(); ++row) {
        if (!(births[row] >= 0 && births[row] <= static_cast<double>(parameters.step))) {
          fail(fmt::format("tensor 'birth.{}' has impossible numbers", name));
        }
        parameters.births(id)[row] = static_cast<std::uint64_t>(births[row]);
      }
    });
  }

  void read_plane(const std::string& name, const Block& block, float* out) {
    const Tensor& tensor = expect(name, block.rows, block.columns);
    const std::size_t count = std::size_t{block.rows} * block.columns;
    if (count > 0) std::memcpy(out, tensor.bytes.data(), tensor.bytes.size());
    if (!std::all_of(out, out + count, [](float v) { return std::isfinite(v); })) {
      fail(fmt::format("tensor '{}' has numbers that are not finite", name));
    }
  }

  const TensorFile& file_;
  const std::string& label_;
  std::set<std::string> used_, texts_;
};

}  // namespace

std::string config_json(const NetworkConfig& config) {
  return to_json(config).dump();
}

std::string serialize_network(const NetworkFile& file) {
  const Network& network = *file.network;
  const Parameters& parameters = network.parameters();
  TensorFile out{.kind = kNetworkFileKind, .version = kNetworkFileVersion};
  json catalog = json::array();
  for (NodeId id = 0; id < network.size(); ++id) {
    const Node& node = network.node(id);
    catalog.push_back(to_json(node, id));
    if (id <= Network::kEnd) continue;
    const auto n = static_cast<std::int64_t>(node.value.components());
    out.tensors[node_prefix(id) + "location"] = floats(node.scaling.location.data(), {n});
    out.tensors[node_prefix(id) + "scale"] = floats(node.scaling.scale.data(), {n});
    out.tensors[node_prefix(id) + "bounds"] =
        Tensor::from({node.scaling.low, node.scaling.high}, {2});
  }
  out.metadata["catalog"] = catalog.dump();
  out.metadata["network"] = json{
      {"config", to_json(network.config())},
      {"seed", network.seed()},
      {"step", parameters.step},
      {"optimizer",
       file.optimizer}}.dump();
  out.metadata["history"] = file.history;
  each_block(network, [&](const std::string& name, BlockId id) {
    const Block& block = parameters.block(id);
    const std::vector<std::int64_t> shape{block.rows, block.columns};
    out.tensors[name] = floats(parameters.values(id), shape);
    if (!file.optimizer) return;
    out.tensors["first_moment." + name] = floats(parameters.first_moments(id), shape);
    out.tensors["second_moment." + name] = floats(parameters.second_moments(id), shape);
    const std::uint64_t* births = parameters.births(id);
    out.tensors["birth." + name] =
        Tensor::from(std::vector<double>(births, births + block.rows), {block.rows});
  });
  return out.serialize();
}

NetworkFile parse_network(const std::string& bytes, const std::string& label) {
  const TensorFile file = TensorFile::parse(bytes, label, kNetworkFileKind, kNetworkFileVersion);
  return Reader(file, label).read();
}

void save_network(const std::string& path, const NetworkFile& file) {
  write_file_atomically(path, serialize_network(file));
}

NetworkFile load_network(const std::string& path) {
  return parse_network(read_file(path), path);
}

}  // namespace psn
