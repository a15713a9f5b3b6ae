// libFuzzer target: foreign bytes into the PPX codec. What decodes must survive writing and
// reading. scripts/fuzz builds and runs it.
#include <cstdlib>

#include "psn/base/error.h"
#include "psn/ppx/codec.h"
#include "tests/protocol/describe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace psn::ppx;
  try {
    const Message message = decode(std::as_bytes(std::span(data, size)));
    Encoder encoder(ScalarShape::kNone);
    if (describe(decode(encoder.encode(message))) != describe(message)) std::abort();
  } catch (const psn::ProtocolError&) {
  }
  return 0;
}
