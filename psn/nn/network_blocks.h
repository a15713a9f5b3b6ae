// The blocks of a network's parameters, by the names that they have in files.
#pragma once

#include <functional>
#include <string>

#include "psn/nn/network.h"

namespace psn {

// Of the names of a node's tensors.
std::string node_prefix(NodeId id);
// Calls visit(name, block) for every block of parameters.
void each_block(const Network& network,
                const std::function<void(const std::string&, BlockId)>& visit);

}  // namespace psn
