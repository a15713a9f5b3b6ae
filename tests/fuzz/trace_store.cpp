// libFuzzer target (scripts/fuzz): bytes as records of a trace store; the first says of which kind.
#include "tests/fuzz/store_records.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const psn::test::StoreRecords records;
  if (size == 0) return 0;
  const auto kind = static_cast<psn::test::RecordKind>(data[0] % psn::test::kRecordKinds);
  records.takes(kind, std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
