// libFuzzer target (scripts/fuzz): bytes as a surrogate's file, and as any tensor file.
#include <cstdint>
#include <string>

#include "psn/io/tensor_file.h"
#include "tests/fuzz/network_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  psn::test::fate_of(bytes);
  try {
    psn::TensorFile::parse(bytes, "the-file", "psn posterior", 1);
  } catch (const psn::DataError&) {
  }
  return 0;
}
