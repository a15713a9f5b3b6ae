#include "psn/base/text.h"

#include <gtest/gtest.h>

#include <vector>

#include "psn/io/csv.h"

namespace psn {
namespace {

TEST(Text, NearestIsASlipAway) {
  const std::vector<std::string> words{"--observe", "--seed", "--chains"};
  EXPECT_EQ(nearest("--obsreve", words), "--observe");
  EXPECT_EQ(nearest("--sed", words), "--seed");
  EXPECT_EQ(nearest("--something-else", words), "");
  EXPECT_EQ(suggestion("--chain", words), "; did you mean '--chains'?");
  EXPECT_EQ(suggestion("zzzzzz", words), "");
}

TEST(Text, PrintableUtf8) {
  EXPECT_TRUE(is_printable("theta_1 \xce\xb8 \xf0\x9f\x98\x80"));
  for (const char* bad : {"a\nb", "\xff", "\xc0\x80", "\xed\xa0\x80", "\xe2\x82", "\x7f"}) {
    EXPECT_FALSE(is_printable(bad));
  }
  EXPECT_FALSE(is_printable("\xc2\x9b"));  // a terminal takes it for the start of a command
  EXPECT_EQ(escaped("a\xff"), "a\\xff");
}

TEST(Text, OneLine) {
  EXPECT_EQ(one_line("a\nb\tc \r\n"), "a b c");
  EXPECT_EQ(one_line("\x1b[31m\xce\xb8\xff\xc2\x9b\x7f"), "\\x1b[31m\xce\xb8\\xff\\xc2\\x9b\\x7f");
  EXPECT_EQ(one_line("abcdef", 3), "...def");
  EXPECT_EQ(one_line(" \n"), "");
}

TEST(Csv, WhatIsWrittenIsRead) {
  for (const std::string text : {"x", "", "f(a, b)", "say \"so\"", "a,\"b\",", "\"", ","}) {
    EXPECT_EQ(csv_cells(csv_cell(text) + "," + csv_cell("y")),
              (std::vector<std::string>{text, "y"}));
  }
  const std::vector<std::string> expected{"1", "2", "", "x_0"};
  EXPECT_EQ(csv_cells(" 1 ,\t2,, \"x_0\" \r"), expected);
  EXPECT_EQ(csv_cells(""), std::vector<std::string>{""});
}

}  // namespace
}  // namespace psn
