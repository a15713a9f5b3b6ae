// What any bytes must survive when they are taken for a surrogate's file: a DataError that names
// the file, or a network that runs. Used by the mutation test and by the libFuzzer target.
#pragma once

#include <memory>
#include <string>

#include "psn/base/error.h"
#include "psn/core/run.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/surrogate.h"

namespace psn::test {

enum class Fate {
  kRefused,  // a DataError
  kFailed,   // a network, but one that cannot run: a ModelError
  kRan,
};

// Any other exception is a defect, and leaves this function.
inline Fate fate_of(const std::string& bytes) {
  NetworkFile file;
  try {
    file = parse_network(bytes, "the-file");
  } catch (const DataError& error) {
    if (std::string(error.what()).find("the-file") == std::string::npos) throw;
    return Fate::kRefused;
  }
  try {
    SurrogateSimulator simulator("the-file", file.network);
    run_traces(
        simulator, 4, [] { return std::make_unique<PriorGuide>(); }, [](std::uint64_t, Trace&) {},
        {.max_length = 30}, {4, 1});
  } catch (const ModelError&) {
    return Fate::kFailed;
  }
  return Fate::kRan;
}

}  // namespace psn::test
