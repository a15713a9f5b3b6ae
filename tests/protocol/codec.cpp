// The codec against recorded conversations of deployed peers, against what peers may do, and
// against damaged bytes.
#include "psn/ppx/codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "psn/base/error.h"
#include "psn/base/rng.h"
#include "tests/protocol/describe.h"
#include "tests/protocol/recording.h"

namespace psn::ppx {
namespace {

std::string conversation(const std::string& name) {
  std::string text;
  for (const Recorded& m : recording(name)) {
    text += std::string(1, m.from) + " " + describe(decode(m.bytes)) + "\n";
  }
  return text;
}

TEST(RecordedConversation, GaussianWithUnknownMean) {
  const std::string run = R"(> Run
< Sample '[forward()+0x96]' '' Normal(mean=1, stddev=2.23606797749979) controlled
> SampleResult {}
< Observe '[forward()+0x152]' 'obs0' Normal(mean={}, stddev=1.4142135623730951) []
> ObserveResult []
< Observe '[forward()+0x196]' 'obs1' Normal(mean={}, stddev=1.4142135623730951) []
> ObserveResult []
< RunResult {}
)";
  const auto with = [&](const std::string& value) {
    std::string text = run;
    for (auto at = text.find("{}"); at != text.npos; at = text.find("{}")) {
      text.replace(at, 2, value);
    }
    return text;
  };
  EXPECT_EQ(conversation("gum"),
            "> Handshake 'pyprob 1.5.0'\n"
            "< HandshakeResult 'pyprob_cpp 1.0.0 (master:9186f90)' 'Gaussian with unknown mean "
            "C++'\n" +
                with("-1.1393094062805176") + with("5.108211517333984"));
}

TEST(RecordedConversation, Branching) {
  EXPECT_EQ(conversation("branching"), R"(> Handshake 'pyprob 1.5.0'
< HandshakeResult 'pyprob_cpp 1.0.0 (master:9186f90)' 'Branching C++'
> Run
< Sample '[forward()+0x5c]' '' Poisson(rate=4) controlled
> SampleResult 4
< Sample '[forward()+0xe9]' '' Poisson(rate=4) controlled
> SampleResult 5
< Observe '[forward()+0x168]' 'obs' Poisson(rate=150) []
> ObserveResult []
< RunResult 4
> Run
< Sample '[forward()+0x5c]' '' Poisson(rate=4) controlled
> SampleResult 3
< Sample '[forward()+0xe9]' '' Poisson(rate=4) controlled
> SampleResult 4
< Observe '[forward()+0x168]' 'obs' Poisson(rate=39) []
> ObserveResult []
< RunResult 3
)");
}

TEST(RecordedConversation, EveryFamily) {
  std::vector<std::string> families;
  const auto messages = recording("distributions");
  for (const Recorded& m : messages) {
    const Message message = decode(m.bytes);
    if (const auto* sample = std::get_if<Sample>(&message)) {
      families.push_back(sample->name + ": " + sample->distribution.text());
      EXPECT_TRUE(sample->distribution.valid());
    }
  }
  ASSERT_EQ(families.size(), 22u);
  families.resize(11);  // the second run repeats them
  EXPECT_EQ(families, (std::vector<std::string>{
                          "normal: Normal(mean=1.75, stddev=0.5)",
                          "uniform: Uniform(low=1.2, high=2.5)",
                          "categorical: Categorical(probs=[0.1, 0.5, 0.4])",
                          "poisson: Poisson(rate=4)",
                          "bernoulli: Bernoulli(probs=0.2)",
                          "beta: Beta(concentration1=1.2, concentration0=2.5)",
                          "exponential: Exponential(rate=2.2)",
                          "gamma: Gamma(concentration=0.5, rate=1.2)",
                          "log_normal: LogNormal(loc=0.5, scale=0.2)",
                          "binomial: Binomial(total_count=10, probs=0.72)",
                          "weibull: Weibull(scale=1.1, concentration=0.6)",
                      }));
}

// What deployed peers wrote, written by us, means the same.
TEST(RecordedConversation, WrittenByUsMeansTheSame) {
  for (const char* name : {"gum", "branching", "distributions"}) {
    for (const Recorded& m : recording(name)) {
      Encoder encoder(m.from == '>' ? ScalarShape::kOne : ScalarShape::kNone);
      const Message message = decode(m.bytes);
      EXPECT_EQ(describe(decode(encoder.encode(message))), describe(message));
    }
  }
}

Message through(const Message& message, ScalarShape scalars = ScalarShape::kNone) {
  Encoder encoder(scalars);
  const auto bytes = encoder.encode(message);
  return decode(bytes);
}

// Where a field of a table in these bytes lies; 0 if the table lacks it.
std::size_t place_of(std::span<const std::byte> bytes, std::size_t table, std::size_t field) {
  const auto read = [&]<class T>(std::size_t at, T value) {
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  const std::size_t vtable = table - static_cast<std::size_t>(read(table, std::int32_t{}));
  const std::size_t entry = 4 + 2 * field;
  if (entry >= read(vtable, std::uint16_t{})) return 0;
  const std::uint16_t offset = read(vtable + entry, std::uint16_t{});
  return offset == 0 ? 0 : table + offset;
}

// PyProb reads address and name of every request, and fails where there is none.
TEST(Codec, AnEmptyNameIsWritten) {
  for (const Message& message :
       {Message(Sample{"a", "", Normal(0, 1)}), Message(Observe{"a", "", Normal(0, 1), {}}),
        Message(Tag{"a", "", 1.0})}) {
    Encoder encoder(ScalarShape::kNone);
    const auto bytes = encoder.encode(message);
    const auto follow = [&](std::size_t at) {
      std::uint32_t offset = 0;
      std::memcpy(&offset, bytes.data() + at, sizeof offset);
      return at + offset;
    };
    const std::size_t body = follow(place_of(bytes, follow(0), 1));
    const std::size_t name = place_of(bytes, body, 1);
    ASSERT_NE(name, 0u) << describe(message);
    EXPECT_EQ(bytes[follow(name)], std::byte{0});  // its length
    EXPECT_EQ(describe(decode(bytes)), describe(message));
  }
}

TEST(Codec, EveryMessageSurvives) {
  const Value none{std::vector<double>()};
  const std::vector<Message> messages{
      Handshake{"psn"},
      HandshakeResult{"a", "b"},
      ppx::Run{},
      RunResult{none},
      RunResult{Value({1, 2, 3, 4, 5, 6}, {2, 3})},
      Sample{"a", "n", Gamma(1.5, 2), false},
      Sample{"a", "", Categorical({1, 1, 1}), true},
      Sample{"a", "", Normal(Value({1, 2, 3, 4}), 1), true},
      Sample{"a", "", Categorical(Value({1, 2, 3, 4}, {2, 2})), true},
      SampleResult{Value(-0.0)},
      Observe{"a", "n", Weibull(1, 2), Value(3.0)},
      Observe{"a", "n", std::nullopt, Value({1, 2})},
      Observe{"", "only a name", Poisson(3), {}},
      ObserveResult{none},
      ObserveResult{Value(2.0)},
      Tag{"a", "n", Value({1, 2, 3})},
      TagResult{},
      Reset{}};
  for (const Message& message : messages) {
    for (const ScalarShape scalars : {ScalarShape::kNone, ScalarShape::kOne}) {
      EXPECT_EQ(describe(through(message, scalars)), describe(message));
    }
  }
}

TEST(Codec, ScalarsComeWithEitherShape) {
  for (const ScalarShape scalars : {ScalarShape::kNone, ScalarShape::kOne}) {
    const auto message = std::get<Sample>(through(Sample{"a", "", Normal(1, 2), true}, scalars));
    EXPECT_TRUE(message.distribution.is_scalar());
    EXPECT_EQ(message.distribution.type_name(), "Normal");
  }
}

TEST(Codec, ASingleCategoryIsStillACategorical) {
  const auto message = std::get<Sample>(through(Sample{"a", "", Categorical({3.0}), true}));
  EXPECT_TRUE(message.distribution.valid());
  EXPECT_EQ(message.distribution.categories(), 1u);
}

TEST(Codec, UnnormalisedProbabilitiesAreNormalised) {
  const auto message = std::get<Sample>(through(Sample{"a", "", Categorical({1, 1, 1}), true}));
  EXPECT_NEAR(message.distribution.log_prob(2.0), -std::log(3), 1e-12);
}

TEST(Codec, RefusesWhatPpxLacks) {
  Encoder encoder(ScalarShape::kNone);
  EXPECT_THROW(encoder.encode(Sample{"a", "", TruncatedNormal(0, 1, -1, 1), true}), ModelError);
  for (const Distribution& d : std::initializer_list<Distribution>{
           StudentT(3, 0, 1), Laplace(0, 1), NegativeBinomial(1, 1), Geometric(0.5),
           Dirichlet({1, 1}), MultivariateNormal({0, 0}, Value({1, 0, 0, 1}, {2, 2}))}) {
    try {
      encoder.encode(Sample{"a", "", d, true});
      FAIL() << d.text();
    } catch (const ModelError& error) {
      EXPECT_EQ(error.what(), "PPX has no " + std::string(family_name(d.family())));
    }
  }
  EXPECT_THROW(encoder.encode(Sample{"a", "", Mixture({1, 1}, {Normal(0, 1), Normal(1, 1)}), true}),
               ModelError);
}

void expect_refused(const Message& message) {
  Encoder encoder(ScalarShape::kNone);
  const auto bytes = encoder.encode(message);
  EXPECT_THROW(decode(bytes), ProtocolError) << describe(message);
}

TEST(Codec, Limits) {
  expect_refused(Tag{std::string(kMaxTextBytes + 1, 'a'), "", Value(1.0)});
  expect_refused(Tag{"a\nb", "", Value(1.0)});
  expect_refused(Tag{"", "", Value(1.0)});
  expect_refused(Tag{"a", "", Value({1.0}, Shape(kMaxRank + 1, 1))});
  EXPECT_THROW(decode({}), ProtocolError);
  EXPECT_THROW(decode(Bytes(100)), ProtocolError);
}

// A tensor's shape that does not fit its numbers: found by its bytes and changed in place.
TEST(Codec, ShapeMustFitTheNumbers) {
  Encoder encoder(ScalarShape::kNone);
  const auto encoded = encoder.encode(Tag{"a", "", Value({1, 2, 3, 4, 5, 6}, {2, 3})});
  const Bytes pattern = from_hex("020000000200000003000000");  // rank 2, extents 2 and 3
  Bytes bytes(encoded.begin(), encoded.end());
  const auto place = std::search(bytes.begin(), bytes.end(), pattern.begin(), pattern.end());
  ASSERT_NE(place, bytes.end());
  for (const std::int32_t extent : {-1, 0, 1, 4, 0x7fffffff}) {
    std::memcpy(&*place + 8, &extent, sizeof extent);
    EXPECT_THROW(decode(bytes), ProtocolError) << extent;
  }
}

// Whatever happens to a message, decoding ends with a value or a ProtocolError; the sanitizer build
// watches that nothing else does. Bytes are changed, cut off, added and spliced.
TEST(Codec, DamagedBytes) {
  std::vector<Bytes> seeds;
  for (const char* name : {"gum", "branching", "distributions"}) {
    for (Recorded& m : recording(name)) seeds.push_back(std::move(m.bytes));
  }
  Rng rng(1);
  std::size_t taken = 0, refused = 0;
  for (int round = 0; round < 200'000; ++round) {
    Bytes bytes = seeds[rng.below(seeds.size())];
    for (std::uint64_t change = rng.below(6) + 1; change > 0 && !bytes.empty(); --change) {
      const std::size_t at = rng.below(bytes.size());
      switch (rng.below(5)) {
        case 0:
          bytes[at] ^= static_cast<std::byte>(1 << rng.below(8));
          break;
        case 1:
          bytes[at] = static_cast<std::byte>(rng.below(256));
          break;
        case 2:
          bytes.resize(at);
          break;
        case 3:
          bytes.insert(bytes.begin() + static_cast<long>(at), static_cast<std::byte>(0xff));
          break;
        default: {
          const Bytes& other = seeds[rng.below(seeds.size())];
          bytes.insert(bytes.end(), other.begin(), other.begin() + rng.below(other.size()));
        }
      }
    }
    try {
      const Message message = decode(bytes);
      ++taken;
      if (const auto* sample = std::get_if<Sample>(&message)) sample->distribution.valid();
    } catch (const ProtocolError&) {
      ++refused;
    }
  }
  EXPECT_GT(taken, 10'000u);
  EXPECT_GT(refused, 10'000u);
}

}  // namespace
}  // namespace psn::ppx
