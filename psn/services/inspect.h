// What is in a network's file, as a person asks for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "psn/core/trace.h"
#include "psn/core/value.h"
#include "psn/nn/config.h"
#include "psn/nn/places.h"

namespace psn::services {

// Where a transition leads.
struct InspectedTransition {
  NodeId node = 0;
  std::string index;  // how the index is said where indices are shared: "last+1", "=0"; or none
};

// One address of the network; the first two are the beginning and the end of a trace.
struct InspectedNode {
  std::string address, name;
  bool choice = false;  // else it is neither drawn nor observed, and has none of what follows
  Role role{};
  bool control = true;
  bool learned = false;  // a tag, or what the program returns
  std::string family;
  Shape shape;
  std::size_t categories = 0;  // 0: not of such a family
  std::vector<InspectedTransition> successors;
};

struct InspectedNetwork {
  std::string file;
  NetworkConfig config;
  std::uint64_t seed = 0, updates = 0;
  bool optimizer = false;  // training can go on
  std::size_t parameters = 0, transitions = 0;
  std::vector<InspectedNode> nodes;  // by id
  std::string history;               // of its training: JSON, if it was psn that trained it
};

// Throws DataError that names the file.
InspectedNetwork inspect(const std::string& file);

}  // namespace psn::services
