// Takes a network's file apart. Every failure is a DataError that names the file and what is wrong
// with it.
#pragma once

#include <string>

#include "psn/nn/network_file.h"

namespace psn {

// Metadata and tensors that are the trainer's, and the prefix of the latters' names.
inline constexpr const char* kTraining = "training";
inline constexpr std::string_view kTrainingPrefix = "training.";

NetworkFile read_network(const TensorFile& file, const std::string& label);

}  // namespace psn
