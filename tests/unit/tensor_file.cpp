#include "psn/io/tensor_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "psn/base/error.h"
#include "psn/base/rng.h"

namespace psn {
namespace {

TensorFile example() {
  TensorFile file{.kind = "test", .version = 1, .metadata = {{"seed", "7"}}, .tensors = {}};
  file.tensors["a"] = Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2});
  file.tensors["empty"] = Tensor::from({}, {0});
  return file;
}

TensorFile parse(const std::string& bytes) {
  return TensorFile::parse(bytes, "f", "test", 1);
}

TEST(TensorFile, RoundTrip) {
  const TensorFile file = parse(example().serialize());
  EXPECT_EQ(file.metadata.at("seed"), "7");
  EXPECT_EQ(file.tensors.at("a").shape, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(file.tensor("a", 6, "f").doubles(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_THROW(file.tensor("a", 5, "f"), DataError);
  EXPECT_THROW(file.tensor("b", 6, "f"), DataError);
}

TEST(TensorFile, IsSafetensors) {
  const std::string bytes = example().serialize();
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_EQ(bytes[8], '{');
  EXPECT_EQ(bytes.size(), 8 + length + 48);
}

TEST(TensorFile, OtherKindsAndLaterVersionsAreRefused) {
  EXPECT_THROW(TensorFile::parse(example().serialize(), "f", "other", 1), DataError);
  TensorFile later = example();
  later.version = 2;
  try {
    parse(later.serialize());
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "'f': format version 2; this psn reads up to 1");
  }
}

TEST(TensorFile, EveryTruncationIsAnError) {
  const std::string bytes = example().serialize();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(parse(bytes.substr(0, n)), DataError) << n;
  }
}

TEST(TensorFile, EveryFlippedBitIsAnErrorOrHarmless) {
  const std::string bytes = example().serialize();
  const TensorFile original = parse(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    try {
      const TensorFile file = parse(damaged);
      // Only the padding of the header may change without notice.
      EXPECT_EQ(file.tensors.at("a").bytes, original.tensors.at("a").bytes) << bit;
      EXPECT_EQ(file.metadata, original.metadata) << bit;
    } catch (const DataError&) {
    }
  }
}

TEST(TensorFile, HostileHeaders) {
  const auto with_header = [](std::string header) {
    const std::uint64_t length = header.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes + header;
  };
  EXPECT_THROW(parse(std::string(8, '\xff')), DataError);
  EXPECT_THROW(parse(with_header("[]")), DataError);
  EXPECT_THROW(parse(with_header(std::string(100'000, '['))), DataError);
  EXPECT_THROW(parse(with_header(R"({"__metadata__":{"kind":"test","version":"x"}})")), DataError);
  EXPECT_THROW(parse(with_header(R"({"__metadata__":{"kind":5}})")), DataError);
  Rng rng(9);
  for (int i = 0; i < 2000; ++i) {
    std::string noise(rng.below(64), '\0');
    for (char& c : noise) c = static_cast<char>(rng.bits());
    EXPECT_THROW(parse(with_header(noise)), DataError);
  }
}

}  // namespace
}  // namespace psn
