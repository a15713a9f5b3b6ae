// What a program may send: packets that are not what they say, and anything else.
#include "psn/attach/packets.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "psn/attach/settings.h"
#include "psn/base/error.h"

namespace psn::attach {
namespace {

std::vector<char> packed(wire::Head head, const std::vector<double>& numbers,
                         const std::string& text) {
  std::vector<char> bytes(sizeof(head) + 8 * numbers.size() + text.size());
  std::memcpy(bytes.data(), &head, sizeof(head));
  std::memcpy(bytes.data() + sizeof(head), numbers.data(), 8 * numbers.size());
  std::memcpy(bytes.data() + sizeof(head) + 8 * numbers.size(), text.data(), text.size());
  return bytes;
}

std::vector<char> draw(int family, const std::vector<double>& numbers, std::uint32_t count = 0) {
  const std::string at = "sim+0x1";
  wire::Head head;
  head.kind = wire::Kind::kDraw;
  head.code = family;
  head.count = count;
  head.numbers = static_cast<std::uint32_t>(numbers.size());
  head.text = static_cast<std::uint32_t>(at.size());
  return packed(head, numbers, at);
}

TEST(AttachPackets, DrawsAreRead) {
  EXPECT_EQ(drawn_from(decode(draw(0, {1, 2}))).text(), "Normal(mean=1, stddev=2)");
  EXPECT_EQ(drawn_from(decode(draw(2, {1, 2, 1}))).type_name(), "Categorical(len_probs:3)");
  EXPECT_EQ(drawn_from(decode(draw(1, {0, 1}, 3))).type_name(), "Uniform[3]");
  EXPECT_EQ(drawn_from(decode(draw(1, {0, 1}, 1))).type_name(), "Uniform[1]");
}

TEST(AttachPackets, WhatIsNoneIsRefused) {
  const std::vector<char> good = draw(0, {1, 2});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(decode({good.data(), size}), ProtocolError) << size;
  }
  std::vector<char> longer = good;
  longer.push_back('x');
  EXPECT_THROW(decode(longer), ProtocolError);
  for (const int family : {-1, 12, 17, 18, 99, 255, 256, 1 << 30}) {
    EXPECT_THROW(drawn_from(decode(draw(family, {1, 2}))), ProtocolError) << family;
  }
  EXPECT_THROW(drawn_from(decode(draw(0, {1}))), ProtocolError);
  EXPECT_THROW(drawn_from(decode(draw(0, {}))), ProtocolError);
  EXPECT_THROW(drawn_from(decode(draw(2, {}))), ProtocolError);
  EXPECT_THROW(drawn_from(decode(draw(2, {1, 1}, 2))), ProtocolError);
  EXPECT_THROW(decode(draw(0, {1, 2}, wire::kMostNumbers + 1)), ProtocolError);
}

// Any change of a good packet is refused or read; nothing else happens.
TEST(AttachPackets, MutationsDoNoHarm) {
  std::mt19937 random(5);
  for (int i = 0; i < 100'000; ++i) {
    std::vector<char> bytes = draw(static_cast<int>(random() % 19), {0.5, 2}, random() % 3);
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(bytes.size() - (random() % 8 == 0 ? random() % 20 : 0));
    try {
      const Distribution distribution = drawn_from(decode(bytes));
      EXPECT_LE(distribution.size(), wire::kMostNumbers);
    } catch (const Error&) {
    }
  }
}

TEST(AttachSettings, MistakesAreNamed) {
  const auto said = [](const std::string& text) -> std::string {
    try {
      parse_settings(text, "sim.toml");
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said("[site.mu]\nat = 'sim+0x1'\ncontrol = false"), "");
  EXPECT_EQ(said("[site.mu]\nat = ['sim+0x1', 'sim+0x2']\nlist = true"), "");
  EXPECT_NE(said("[site.mu]\ncontrol = false").find("[site.mu]"), std::string::npos);
  EXPECT_NE(said("[sites.mu]\nat = 'x'").find("did you mean 'site'"), std::string::npos);
  EXPECT_NE(said("[observe.y]\npatern = 'x'").find("pattern"), std::string::npos);
  EXPECT_NE(said("[observe.y]\npattern = '('").find("no regular expression"), std::string::npos);
  EXPECT_NE(said("[observe.y]\npattern = 'x'\nlaw = 'Normal'").find("all but one"),
            std::string::npos);
  EXPECT_NE(said("[observe.y]\npattern = 'x'\nlaw = 'Gauss'").find("no law"), std::string::npos);
  EXPECT_NE(said("[program]\ndepth = 0").find("depth"), std::string::npos);
  EXPECT_NE(said("a = [").find("line 1"), std::string::npos);
  const Settings settings = parse_settings(
      "[observe.y]\nfrom = 'out.csv'\ncolumn = 2\nlaw = 'Normal'\nstddev = 2\nscale = 3", "s");
  EXPECT_EQ(settings.outputs[0].around(4).text(), "Normal(mean=4, stddev=2)");
  EXPECT_EQ(settings.outputs[0].column, "2");
}

}  // namespace
}  // namespace psn::attach
