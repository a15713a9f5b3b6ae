#include "psn/nn/network_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "psn/nn/network_blocks.h"
#include "psn/nn/network_json.h"
#include "psn/nn/tally/json.h"

namespace psn {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxStep = std::uint64_t{1} << 53;  // exact as a double, as births are

class NetworkReader {
 public:
  NetworkReader(const TensorFile& file, const std::string& label) : file_(file), json_(label) {}

  NetworkFile read() {
    const json header = parse("network");
    NetworkFile result;
    result.history = text("history");
    result.optimizer = json_.get<bool>(header, "optimizer");
    const NetworkConfig config = read_config(json_, json_.get<json>(header, "config"));
    expect_core(config);
    result.network =
        std::make_shared<Network>(config, json_.get<std::uint64_t>(header, "seed"), true);
    Network& network = *result.network;
    network.parameters().step = json_.get<std::uint64_t>(header, "step");
    if (network.parameters().step >= kMaxStep) fail("its number of updates is impossible");
    if (header.contains("tally")) read_plan(network, header);
    const json catalog = parse("catalog");
    if (!catalog.is_array() || catalog.size() < 2) fail("its catalog is not a list of addresses");
    for (std::size_t i = Network::kEnd + 1; i < catalog.size(); ++i) {
      add_node(network, read_node(json_, catalog[i], config), static_cast<NodeId>(i));
    }
    if (file_.version == 1 && network.shares_indices()) read_numbered_places(header);
    for (std::size_t i = 0; i < catalog.size(); ++i) {
      read_successors(network, catalog[i], static_cast<NodeId>(i));
    }
    read_parameters(network, result.optimizer);
    network.restored();
    read_training(result);
    if (used_.size() != file_.tensors.size()) {
      fail(fmt::format("has {} tensors that no network has", file_.tensors.size() - used_.size()));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { json_.fail(what); }

  const std::string& text(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    if (found == file_.metadata.end()) fail(fmt::format("has no '{}'", key));
    return found->second;
  }
  json parse(const std::string& key) const { return json_.parse(text(key), key); }

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
    core_ = make_core(config);
    for (const CoreBlock& block : core_->blocks()) {
      expect("core." + block.name, block.rows, block.columns);
    }
    for (const std::string when : {"previous", "current"}) {
      expect("projection." + when + "_type", core_->inputs(),
             config.distribution_type_embedding_dim);
      expect("projection." + when + "_address", core_->inputs(), config.address_embedding_dim);
    }
  }

  void expect_observation(const NetworkConfig& config, const Node& node,
                          const std::string& prefix) {
    const ObservationLayers& layers = config.observation_layers_of(node.name, node.site_name);
    // A convolution's own weights are few whatever the value's size, but its scaling is not.
    expect(prefix + "location", Tensor::Type::kFloat32,
           {static_cast<std::int64_t>(node.value.components())});
    std::size_t i = 0, width = observation_columns(node);
    const auto layer = [&](std::size_t rows, std::size_t inputs) {
      expect(fmt::format("{}observation.{}", prefix, i++), rows, inputs + 1);
    };
    for (const Convolution& convolution : observation_convolutions(config, node)) {
      layer(convolution.channels_out, convolution.window());
      width = convolution.outputs();
    }
    for (std::size_t l = 0; l < layers.num_layers; ++l, width = layers.hidden_dim) {
      layer(layers.hidden_dim, width);
    }
    const std::size_t inputs = node.value.inputs(), skip = observation_skip(config, node);
    if (skip < inputs && skip > 0) expect(prefix + "observation_skip", skip, inputs + 1);
    expect(prefix + "observation_projection", core_->inputs() + config.observation_context,
           width + length_features(node) + skip + 1);
  }

  void expect_node(const NetworkConfig& config, const Node& node, NodeId id) {
    const std::string prefix = node_prefix(id);
    const bool infers = config.purpose == Purpose::kInference;
    if (infers && node.role == Role::kObserve) return expect_observation(config, node, prefix);
    expect(prefix + "embedding", config.sample_embedding_dim, node.value.inputs() + 1);
    const std::size_t context = infers ? config.observation_context : config.recall;
    if (!infers) {
      expect(prefix + "transition_hidden", config.transition_hidden_dim,
             core_->outputs() + context + config.sample_embedding_dim + 1);
      if (context > 0) expect(prefix + "recall", context, node.value.inputs() + 1);
    }
    const ProposalType proposal = infers ? proposal_of(config, node) : ProposalType{};
    const std::size_t outputs = infers ? proposal.outputs() : node.value.outputs();
    const VariableLayers& layers = config.layers_of(node.name, node.site_name);
    if (proposal.sequential) expect(prefix + "follow", proposal.size, layers.hidden_dim);
    std::size_t width = core_->outputs() + context;
    for (std::size_t i = 0; i < layers.num_layers; ++i) {
      const std::size_t rows = i + 1 == layers.num_layers ? outputs : layers.hidden_dim;
      expect(fmt::format("{}value.{}", prefix, i), rows, width + 1);
      width = rows;
    }
  }

  void read_plan(Network& network, const json& header) {
    if (!network.tallies()) fail("has a tally that its configuration does not have");
    TallyPlan plan = read_tally(json_, header["tally"]);
    expect("projection.tally", plan.inputs(), core_->inputs());
    network.set_tally(std::move(plan));
  }

  void read_scaling(Node& node, NodeId id) {
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
    const auto bounds = expect(node_prefix(id) + "bounds", Tensor::Type::kFloat64, {2}).doubles();
    scaling.low = bounds[0];
    scaling.high = bounds[1];
    const auto bad = [](float v) { return !std::isfinite(v); };
    if (std::any_of(scaling.location.begin(), scaling.location.end(), bad) ||
        std::any_of(scaling.scale.begin(), scaling.scale.end(),
                    [](float v) { return !(v > 0) || !std::isfinite(v); })) {
      fail(fmt::format("'{}': impossible scaling", node.text));
    }
    const FamilyInfo& family = info(node.value.family);
    const bool bounded = family.has(family::Role::kLow) || family.has(family::Role::kHigh);
    const std::vector<float> zeros(bounded ? node.value.outputs() : 0);
    if (std::isnan(scaling.low) || std::isnan(scaling.high) ||
        (bounded && !head_distribution(node.value, scaling, zeros.data()).valid())) {
      fail(fmt::format("'{}': impossible bounds", node.text));
    }
  }

  void add_node(Network& network, Node node, NodeId id) {
    if (!texts_.insert(node.text).second) fail(fmt::format("'{}' is there twice", node.text));
    // What is one variable by its address has one name and one index.
    const auto same = variables_.try_emplace(variable_text(node), node.name, node.index).first;
    if (same->second != std::pair(node.name, node.index)) {
      fail(fmt::format("'{}' has two names or indices", node.text));
    }
    expect_node(network.config(), node, id);
    read_scaling(node, id);
    network.add_node(std::move(node));
  }

  // Version 1 numbered the places of shared indices, and knew one base.
  void read_numbered_places(const json& header) {
    const auto places = json_.get<json>(header, "places");
    if (!places.is_array() || places.size() < 2) fail("'places' is not a list of places");
    for (const json& item : places) {
      Place& place = numbered_.emplace_back(Place{json_.get<NodeId>(item, "node")});
      if (!item.contains("step")) continue;
      place.base = Base::kLast;
      place.offset = json_.get<std::int64_t>(item, "step");
    }
  }

  Place place(const json& item, const Network& network) const {
    Place place = read_place(json_, item);
    if (file_.version > 1 || !network.shares_indices()) return place;
    if (place.node >= numbered_.size()) fail(fmt::format("there is no place {}", place.node));
    return numbered_[place.node];
  }

  void read_successors(Network& network, const json& entry, NodeId from) {
    const auto successors = json_.get<json>(entry, "successors");
    if (!successors.is_array()) fail("'successors' is not a list");
    std::vector<Place> to;
    for (const json& item : successors) {
      const Place& next = to.emplace_back(place(item, network));
      const bool indexed = next.base != Base::kNone;
      if (next.node >= network.size() || next.node == Network::kBegin || from == Network::kEnd ||
          (indexed && (next.node == Network::kEnd || !network.shares_indices())) ||
          network.infers()) {
        fail(fmt::format("address {} has an impossible successor", from));
      }
    }
    if (std::set<Place>(to.begin(), to.end()).size() != to.size()) {
      fail(fmt::format("address {} has a successor twice", from));
    }
    if (to.empty()) return;
    const Node& node = network.node(from);
    // As many rows in the file, before memory is reserved for them.
    expect(node_prefix(from) + "transition", 1 + to.size(), network.transition_inputs(node) + 1);
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

  // Not for this layer to understand.
  void read_training(NetworkFile& result) {
    const auto found = file_.metadata.find(kTraining);
    if (found == file_.metadata.end()) return;
    result.training = found->second;
    for (const auto& [name, tensor] : file_.tensors) {
      if (!name.starts_with(kTrainingPrefix)) continue;
      result.training_tensors.emplace(name.substr(kTrainingPrefix.size()), tensor);
      used_.insert(name);
    }
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
  JsonReader json_;
  std::shared_ptr<const Core> core_;  // of the configuration
  std::set<std::string> used_, texts_;
  std::vector<Place> numbered_;  // of version 1
  std::map<std::string, std::pair<std::string, std::optional<std::int64_t>>> variables_;
};

}  // namespace

NetworkFile read_network(const TensorFile& file, const std::string& label) {
  return NetworkReader(file, label).read();
}

}  // namespace psn
