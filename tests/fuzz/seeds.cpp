// Writes small sound files to two folders: where fuzzers of networks and of trace stores start
// from.
#include <string>

#include "psn/io/atomic_file.h"
#include "psn/nn/network_file.h"
#include "tests/fuzz/store_records.h"
#include "tests/fuzz/tiny_network.h"

int main(int, char** arguments) {
  using namespace psn;
  const test::StoreRecords records;
  for (char kind = 0; kind < static_cast<char>(test::kRecordKinds); ++kind) {
    int number = 0;
    for (const std::string& record : records.sound(static_cast<test::RecordKind>(kind))) {
      write_file_atomically(
          std::string(arguments[2]) + "/" + std::to_string(kind) + "-" + std::to_string(number++),
          kind + record);
    }
  }
  for (const Addressing addressing : {Addressing::kInstance, Addressing::kSite}) {
    const bool sites = addressing == Addressing::kSite;
    save_network(std::string(arguments[1]) + (sites ? "/sites.psn" : "/instances.psn"),
                 {test::tiny_network(addressing), "[]", sites});
  }
}
