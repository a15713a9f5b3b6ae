// Networks on disk: `file.psn`, a tensor file of kind "psn network". docs/formats/network.md
// has its content. Loading runs no code, and believes nothing: everything is checked against
// everything else before memory is reserved for it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "psn/io/tensor_file.h"
#include "psn/nn/network.h"

namespace psn {

inline constexpr const char* kNetworkFileKind = "psn network";
inline constexpr int kNetworkFileVersion = 2;

struct NetworkFile {
  std::shared_ptr<Network> network;
  std::string history;     // of its training: JSON, as the trainer gave it
  bool optimizer = false;  // are Adam's moments there?
  // Of a training that can go on: what the trainer wants to find again. Kept as it is.
  std::string training;  // empty: none
  std::map<std::string, Tensor> training_tensors;
};

// Both throw DataError that names the file.
void save_network(const std::string& path, const NetworkFile& file);
NetworkFile load_network(const std::string& path);

// The same on bytes in memory; `label` stands for the file in messages.
std::string serialize_network(const NetworkFile& file);
NetworkFile parse_network(const std::string& bytes, const std::string& label);

// The configuration as JSON, by the names of the paper's tables.
std::string config_json(const NetworkConfig& config);

}  // namespace psn
