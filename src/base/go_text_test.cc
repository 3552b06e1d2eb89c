#include "base/go_text.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

namespace berth::base {
namespace {

using std::string_view_literals::operator""sv;

TEST(GoTextTest, QuotesAsPercentQ) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows = {
      {"", R"("")"},
      {"plain text", R"("plain text")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"a\a\b\f\n\r\t\vb", R"("a\a\b\f\n\r\t\vb")"},
      {"a\0b"sv, R"("a\x00b")"},
      {"a\x1b[31m\x7f", R"("a\x1b[31m\x7f")"},
      {"30000–32767", R"("30000–32767")"},  // An en dash, as a web page would have it.
      {"日本😀", R"("日本😀")"},
      {"8\u00a00\u0085\u00ad\u202e\u202c\u2060\u3000\ufeff.",
       R"("8\u00a00\u0085\u00ad\u202e\u202c\u2060\u3000\ufeff.")"},
      // Not UTF-8: a lone byte, a truncated, an overlong, a surrogate and a too large sequence.
      {"\xff\x80", R"("\xff\x80")"},
      {"\xe2\x82", R"("\xe2\x82")"},
      {"\xe2\x82z", R"("\xe2\x82z")"},
      {"\xc0\xaf", R"("\xc0\xaf")"},
      {"\xe0\x80\xaf", R"("\xe0\x80\xaf")"},
      {"\xed\xa0\x80", R"("\xed\xa0\x80")"},
      {"\xf4\x90\x80\x80", R"("\xf4\x90\x80\x80")"},
  };
  for (const auto& [text, quoted] : rows) EXPECT_EQ(GoQuoted(text), quoted);
}

TEST(GoTextTest, TrimsWhatUnicodeCallsWhiteSpace) {
  EXPECT_EQ(GoTrimSpace(" \t\r\n\v\f80-90\u00a0\u3000 "), "80-90");
  EXPECT_EQ(GoTrimSpace("a b"), "a b");
  EXPECT_EQ(GoTrimSpace(" \u2003 "), "");
  EXPECT_EQ(GoTrimSpace(""), "");
  EXPECT_EQ(GoTrimSpace("\xff 80 \xa0"), "\xff 80 \xa0") << "a stray byte is not white space";
}

TEST(GoTextTest, WhatNobodyWouldSeeIsMadeVisible) {
  EXPECT_EQ(ToVisible("team/web – 日本"), "team/web – 日本");
  EXPECT_EQ(ToVisible("\x1b[2J\u0085x\n"), "?[2J?x?");
  EXPECT_EQ(ToVisible("a\u202eb\u202cc\u2028d"), "a?b?c?d");
  EXPECT_EQ(ToVisible("a\xff"
                      "b"),
            "a\uFFFDb");
}

TEST(GoText, TheFirstThatNobodyWouldSee) {
  EXPECT_EQ(FirstInvisible("aé \xff\xe2\x80"), std::nullopt);
  EXPECT_EQ(FirstInvisible("aé\u202e\n")->value, U'\u202e');
  EXPECT_EQ(FirstInvisible("aé\u202e\n")->position, 3U);
}

TEST(GoText, OnlyVisibleIsCutBetweenCharacters) {
  EXPECT_EQ(OnlyVisible("ku\x1b\nbectl \u202e1", 100), "kubectl 1");
  EXPECT_EQ(OnlyVisible("a\xff", 100), "a\uFFFD");
  EXPECT_EQ(OnlyVisible("aé€", 5), "aé");
  EXPECT_EQ(OnlyVisible("aé€", 6), "aé€");
  EXPECT_EQ(OnlyVisible("a\xff", 3), "a");
}

}  // namespace
}  // namespace berth::base
