#include "psn/nn/network_file.h"

#include <cstring>

#include "psn/io/atomic_file.h"
#include "psn/io/tensor_file.h"
#include "psn/nn/network_blocks.h"
#include "psn/nn/network_json.h"
#include "psn/nn/network_reader.h"
#include "psn/nn/tally/json.h"

namespace psn {
namespace {

using nlohmann::json;

Tensor floats(const float* values, std::vector<std::int64_t> shape) {
  const std::size_t count = element_count(shape);
  Tensor tensor{Tensor::Type::kFloat32, std::move(shape), std::string(count * 4, '\0')};
  if (count > 0) std::memcpy(tensor.bytes.data(), values, count * 4);
  return tensor;
}

}  // namespace

std::string config_json(const NetworkConfig& config) {
  return to_json(config).dump();
}

std::string serialize_network(const NetworkFile& file) {
  const Network& network = *file.network;
  Parameters& parameters = file.network->parameters();
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
  json header{{"config", to_json(network.config())},
              {"seed", network.seed()},
              {"step", parameters.step},
              {"optimizer", file.optimizer}};
  if (network.tally()) header["tally"] = to_json(*network.tally());
  out.metadata["network"] = header.dump();
  out.metadata["history"] = file.history;
  if (!file.training.empty()) out.metadata[kTraining] = file.training;
  for (const auto& [name, tensor] : file.training_tensors) {
    out.tensors[std::string(kTrainingPrefix) + name] = tensor;
  }
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
  return read_network(file, label);
}

void save_network(const std::string& path, const NetworkFile& file) {
  write_file_atomically(path, serialize_network(file));
}

NetworkFile load_network(const std::string& path) {
  return parse_network(read_file(path), path);
}

}  // namespace psn
