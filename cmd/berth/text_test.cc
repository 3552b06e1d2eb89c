#include "berth/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>
#include <string>

#include "base/go_text.h"

namespace berth::cli {
namespace {

using base::U128;

TEST(TextTest, SeparatesThousands) {
  EXPECT_EQ(WithSeparators("0"), "0");
  EXPECT_EQ(WithSeparators("999"), "999");
  EXPECT_EQ(WithSeparators("1000"), "1,000");
  EXPECT_EQ(WithSeparators(U128{65536}), "65,536");
  EXPECT_EQ(WithSeparators(U128{1} << 80), "1,208,925,819,614,629,174,706,176");
}

TEST(TextTest, HintsAtPowersOfTwoOfLargeNumbersOnly) {
  EXPECT_EQ(PowerHint(0), "");
  EXPECT_EQ(PowerHint(65536), "");
  EXPECT_EQ(PowerHint(U128{1} << 32), "2^32");
  EXPECT_EQ(PowerHint(U128{1} << 80), "2^80");
  EXPECT_EQ(PowerHint((U128{1} << 80) - 257), "about 2^80");
  EXPECT_EQ(PowerHint((U128{1} << 80) + 1), "about 2^80");
  EXPECT_EQ(PowerHint(U128{3} << 80), "");
  EXPECT_EQ(PowerHint(base::kU128Max), "about 2^128");
}

TEST(TextTest, ShortNumbersStayShort) {
  EXPECT_EQ(ShortNumber(65278), "65,278");
  EXPECT_EQ(ShortNumber(999'999'999'999'999), "999,999,999,999,999");
  EXPECT_EQ(ShortNumber(U128{1} << 64), "2^64");
  EXPECT_EQ(ShortNumber((U128{1} << 64) - 1), "~2^64");
  EXPECT_EQ(ShortNumber(U128{3} << 64), "5.53e+19");
}

RC_GTEST_PROP(TextTest, AnyNumberIsShort, (uint64_t high, uint64_t low)) {
  RC_ASSERT(ShortNumber(base::MakeU128(high, low)).size() <= 19u);
  PowerHint(base::MakeU128(high, low));
}

TEST(TextTest, PrintableTextCannotSteerTheTerminal) {
  EXPECT_EQ(base::ToVisible("kube-system/kube-dns"), "kube-system/kube-dns");
  EXPECT_EQ(base::ToVisible("a\x1b[31mb\n\x7f"), "a?[31mb??");
  EXPECT_EQ(base::ToVisible("\xC2\x9B"
                            "31m"),
            "?31m");
  EXPECT_EQ(base::ToVisible("\xFF"), "\xEF\xBF\xBD");
  EXPECT_EQ(base::ToVisible("Grüße"), "Grüße");
}

RC_GTEST_PROP(TextTest, PrintableTextHasNoControlCharacters, (const std::string& text)) {
  for (const char c : base::ToVisible(text)) {
    RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
}

TEST(TextTest, CountsCharactersNotBytes) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("█░–"), 3u);
  EXPECT_EQ(PadRight("–", 3), "–  ");
  EXPECT_EQ(PadLeft("–", 3), "  –");
  EXPECT_EQ(PadLeft("long", 2), "long");
}

TEST(TextTest, ShortensBetweenCharacters) {
  EXPECT_EQ(Shortened("abcdef", 6, "..."), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 5, "..."), "ab...");
  EXPECT_EQ(Shortened("äöüäöü", 3, "…"), "äö…");
  EXPECT_EQ(Shortened("abcdef", 1, "..."), "...");
}

TEST(TextTest, WrapsAtBlanks) {
  EXPECT_EQ(Wrapped("one two three", 2, 9), "  one two\n  three\n");
  EXPECT_EQ(Wrapped("one", 0, 5), "one\n");
  EXPECT_EQ(Wrapped("", 0, 5), "");
  EXPECT_EQ(Wrapped("a   b   c", 0, 5), "a   b\nc\n");
  EXPECT_EQ(Wrapped("a incomprehensible b", 1, 8), " a\n inco...\n b\n");
}

RC_GTEST_PROP(TextTest, WrappedLinesFit, (const std::string& text)) {
  std::istringstream lines(Wrapped(base::ToVisible(text), 3, 10));
  for (std::string line; std::getline(lines, line);) {
    RC_ASSERT(DisplayWidth(line) <= 10u);
    RC_ASSERT(line.starts_with("   "));
    RC_ASSERT(!line.ends_with(' '));
  }
}

}  // namespace
}  // namespace berth::cli
