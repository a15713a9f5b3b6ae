// Some thousand mutations of sound files, with the checksum made right again where the mutation is
// below it: each is refused in one clear line or gives a network that runs or fails as a model
// does. Deterministic; the sanitizers watch.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "psn/io/tensor_file.h"
#include "tests/fuzz/network_bytes.h"
#include "tests/fuzz/tiny_network.h"

namespace psn {
namespace {

using namespace test;
using nlohmann::json;

// Mutations of a kind; PSN_MUTATIONS=10 in the environment makes it ten times as many.
int rounds(int count) {
  const char* factor = std::getenv("PSN_MUTATIONS");
  return factor ? count * std::max(1, std::atoi(factor)) : count;
}

class Mutations : public ::testing::TestWithParam<Addressing> {
 protected:
  Mutations()
      : bytes_(
            serialize_network({tiny_network(GetParam()), "[]", GetParam() == Addressing::kSite})) {
    std::memcpy(&header_, bytes_.data(), sizeof header_);
  }

  void tally(const std::string& bytes) { ++fates_[fate_of(bytes)]; }
  bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }

  const std::string bytes_;
  const TensorFile original_ =
      TensorFile::parse(bytes_, "original", kNetworkFileKind, kNetworkFileVersion);
  std::uint64_t header_ = 0;  // its length
  Rng rng_{7};
  std::map<Fate, int> fates_;
};

INSTANTIATE_TEST_SUITE_P(BothAddressings, Mutations,
                         ::testing::Values(Addressing::kInstance, Addressing::kSite,
                                           Addressing::kShared));

TEST_P(Mutations, CutShort) {
  for (std::size_t length = 0; length < bytes_.size();
       length += 1 + rng_.below(bytes_.size() / 50)) {
    ASSERT_EQ(fate_of(bytes_.substr(0, length)), Fate::kRefused);
  }
}

// Bytes of the header changed, taken out, put in or repeated, with its length made right again.
TEST_P(Mutations, HeadersAsText) {
  for (int i = 0; i < rounds(300); ++i) {
    std::string header = bytes_.substr(8, header_);
    for (std::uint64_t edits = 1 + rng_.below(3); edits > 0; --edits) {
      const std::size_t at = rng_.below(header.size());
      const std::size_t length = std::min<std::size_t>(rng_.below(40), header.size() - at);
      switch (rng_.below(4)) {
        case 0:
          header[at] = static_cast<char>(rng_.below(256));
          break;
        case 1:
          header.erase(at, length);
          break;
        case 2:
          header.insert(at, header.substr(at, length));
          break;
        default:
          header.insert(at, length, "0[{\"-,"[rng_.below(6)]);
      }
    }
    const std::uint64_t length = header.size();
    std::string mutated(8, '\0');
    std::memcpy(mutated.data(), &length, 8);
    tally(mutated + header + bytes_.substr(8 + header_));
  }
  EXPECT_GT(fates_[Fate::kRefused], rounds(280));
}

// ---- below the checksum ----

// A value at random within a JSON document.
json& anywhere(json& root, Rng& rng) {
  json* at = &root;
  while (at->is_structured() && !at->empty() && rng.below(6) != 0) {
    auto next = at->begin();
    std::advance(next, static_cast<long>(rng.below(at->size())));
    at = &*next;
  }
  return *at;
}

json something(const json& document, Rng& rng) {
  static const std::vector<json> kValues{0,
                                         1,
                                         2,
                                         3,
                                         -1,
                                         7,
                                         1 << 20,
                                         1u << 31,
                                         0xffffffffu,
                                         0x1p53,
                                         1e300,
                                         -0.5,
                                         true,
                                         false,
                                         nullptr,
                                         "",
                                         "x",
                                         "Normal",
                                         "é\n",
                                         "\x7f",
                                         "Tag",
                                         "sample",
                                         json::array(),
                                         json::object(),
                                         json{1},
                                         json{2, 2},
                                         json{1, 1, 1},
                                         json{1 << 25},
                                         json{{"a", 1}},
                                         std::uint64_t{1} << 63,
                                         ~std::uint64_t{0},
                                         std::numeric_limits<std::int64_t>::min(),
                                         std::string(5000, 'x'),
                                         "Categorical(len_probs:3)"};
  if (rng.below(3) == 0) {  // what is right elsewhere
    json copy = document;
    return anywhere(copy, rng);
  }
  return kValues[rng.below(kValues.size())];
}

void mutate(json& document, Rng& rng) {
  json& at = anywhere(document, rng);
  if (at.is_structured() && !at.empty() && rng.below(2) == 0) {
    auto victim = at.begin();
    std::advance(victim, static_cast<long>(rng.below(at.size())));
    if (rng.below(2) == 0) {
      at.erase(victim);
    } else if (at.is_array()) {
      at.push_back(json(*victim));
    }
  } else if (at.is_number_unsigned() && rng.below(2) == 0) {
    at = at.get<std::uint64_t>() + 2 * rng.below(2) - 1;
  } else {
    at = something(document, rng);
  }
}

TEST_P(Mutations, ConfigurationAndCatalog) {
  for (int i = 0; i < rounds(250); ++i) {
    TensorFile mutated = original_;
    const char* part = one_in(3) ? "network" : "catalog";
    json document = json::parse(mutated.metadata[part]);
    for (std::uint64_t edits = 1 + rng_.below(2); edits > 0; --edits) mutate(document, rng_);
    mutated.metadata[part] = document.dump();
    tally(mutated.serialize());
  }
  // Names, roles and control may be anything, within reason.
  EXPECT_GT(fates_[Fate::kRefused], rounds(125));
  EXPECT_GT(fates_[Fate::kRan], 10);
}

Tensor& pick(TensorFile& file, Rng& rng) {
  auto it = file.tensors.begin();
  std::advance(it, static_cast<long>(rng.below(file.tensors.size())));
  return it->second;
}

TEST_P(Mutations, Numbers) {
  const float kFloats[] = {0,      -0.0f, 1e-45f, -1e-45f,   1e-30f,     3e38f,
                           -3e38f, 1e20f, -1e20f, HUGE_VALF, -HUGE_VALF, std::nanf("")};
  const double kDoubles[] = {0,      -1,   1e-300,   1e300,        -1e300,
                             0x1p53, 1e15, HUGE_VAL, std::nan(""), 0.5};
  for (int i = 0; i < rounds(250); ++i) {
    TensorFile mutated = original_;
    for (std::uint64_t edits = 1 + rng_.below(8); edits > 0; --edits) {
      Tensor& tensor = pick(mutated, rng_);
      if (tensor.bytes.empty()) continue;
      const bool wide = tensor.type == Tensor::Type::kFloat64;
      const std::size_t size = wide ? 8 : 4;
      char* at = tensor.bytes.data() + size * rng_.below(tensor.bytes.size() / size);
      if (one_in(2)) {
        at[rng_.below(size)] ^= static_cast<char>(1 << rng_.below(8));
      } else if (wide) {
        std::memcpy(at, &kDoubles[rng_.below(std::size(kDoubles))], size);
      } else {
        std::memcpy(at, &kFloats[rng_.below(std::size(kFloats))], size);
      }
    }
    tally(mutated.serialize());
  }
  for (const Fate fate : {Fate::kRefused, Fate::kRan}) EXPECT_GT(fates_[fate], 20);
}

TEST_P(Mutations, Tensors) {
  for (int i = 0; i < rounds(100); ++i) {
    TensorFile mutated = original_;
    Tensor &a = pick(mutated, rng_), &b = pick(mutated, rng_);
    switch (rng_.below(5)) {
      case 0:
        std::swap(a, b);
        break;
      case 1:
        a.shape.push_back(1);
        break;
      case 2:
        std::reverse(a.shape.begin(), a.shape.end());
        break;
      case 3:
        a = Tensor::from(a.doubles(), a.shape);
        break;
      default:
        mutated.tensors.erase(std::next(mutated.tensors.begin(),
                                        static_cast<long>(rng_.below(mutated.tensors.size()))));
    }
    tally(mutated.serialize());
  }
  EXPECT_GT(fates_[Fate::kRefused], rounds(50));
}

// What a header may say about itself, with everything else right.
TEST_P(Mutations, Versions) {
  for (const std::string version : {"0", "3", "-1", "99", "99999999999999999999", "", "x", "1e3"}) {
    std::string header = bytes_.substr(8, header_);
    const std::string sound = fmt::format(R"("version":"{}")", kNetworkFileVersion);
    header.replace(header.find(sound), sound.size(), R"("version":")" + version + '"');
    std::string mutated(8, '\0');
    const std::uint64_t length = header.size();
    std::memcpy(mutated.data(), &length, 8);
    EXPECT_EQ(fate_of(mutated + header + bytes_.substr(8 + header_)), Fate::kRefused) << version;
  }
  std::string swapped = bytes_;
  std::reverse(swapped.begin(), swapped.begin() + 8);
  EXPECT_EQ(fate_of(swapped), Fate::kRefused);
}

}  // namespace
}  // namespace psn
