// Writes small sound files to a folder: where a fuzzer starts from.
#include <string>

#include "psn/nn/network_file.h"
#include "tests/fuzz/tiny_network.h"

int main(int, char** arguments) {
  using namespace psn;
  for (const Addressing addressing : {Addressing::kInstance, Addressing::kSite}) {
    const bool sites = addressing == Addressing::kSite;
    save_network(std::string(arguments[1]) + (sites ? "/sites.psn" : "/instances.psn"),
                 {testing::tiny_network(addressing), "[]", sites});
  }
}
