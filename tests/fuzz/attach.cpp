// libFuzzer target (scripts/fuzz): what an attached program may send and leave behind. The first
// byte says which: packets, what it prints, a table that it writes.
#include <cstdlib>
#include <span>
#include <string>

#include "psn/attach/outputs.h"
#include "psn/attach/packets.h"
#include "psn/base/error.h"

namespace {

using namespace psn;

void demand(bool holds) {
  if (!holds) std::abort();
}

void take_packet(std::span<const char> bytes) {
  const attach::Packet packet = attach::decode(bytes);
  const Distribution distribution = attach::drawn_from(packet);
  demand(distribution.size() >= 1 && distribution.size() <= attach::wire::kMostNumbers);
  if (!distribution.valid()) return;
  Rng rng(1, 2, 3);
  demand(distribution.draw(rng).size() == distribution.size());
}

void take_output(const std::string& text, bool table) {
  static const attach::Settings settings = attach::parse_settings(R"toml(
    [observe.pattern]
    pattern = "value +([-+.0-9eE]+)"
    [observe.table]
    column = "b"
    list = true
    [tag.second]
    column = 2)toml",
                                                                  "settings");
  const std::string nowhere = "/";
  for (const attach::Output& output : settings.outputs) {
    if (output.pattern.has_value() == table) continue;
    attach::numbers_of(output, {text, nowhere, 0});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 3 == 0) {
      take_packet(bytes);
    } else {
      take_output(std::string(bytes.begin(), bytes.end()), data[0] % 3 == 1);
    }
  } catch (const Error&) {
  }
  return 0;
}
