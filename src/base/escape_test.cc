#include "base/escape.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <limits>

namespace berth::base {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

std::string Number(double value) {
  std::string out;
  AppendJsonDouble(out, value);
  return out;
}

TEST(AppendJsonString, EscapesWhatJsonDemands) {
  EXPECT_EQ(Quoted(""), R"("")");
  EXPECT_EQ(Quoted("plain <&> text/"), R"("plain <&> text/")");
  EXPECT_EQ(Quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quoted("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(Quoted(std::string_view("\0\x1f", 2)), R"("\u0000\u001f")");
}

TEST(AppendJsonString, EscapesWhatWouldBreakLinesOrSteerATerminal) {
  EXPECT_EQ(Quoted("\x7f"), R"("\u007f")");
  EXPECT_EQ(Quoted("\xC2\x85\xC2\x9B"), R"("\u0085\u009b")");
  EXPECT_EQ(Quoted("\xE2\x80\xA8\xE2\x80\xA9"), R"("\u2028\u2029")");
}

TEST(AppendJsonString, KeepsWellFormedUtf8) {
  EXPECT_EQ(Quoted("é€😀\xC2\xA0"), "\"é€😀\xC2\xA0\"");
}

TEST(AppendJsonString, ReplacesEachIllFormedByte) {
  EXPECT_EQ(Quoted("a\xFFz"), "\"a\uFFFDz\"");
  EXPECT_EQ(Quoted("\xC3"), "\"\uFFFD\"");
  EXPECT_EQ(Quoted("\xE2\x82"), "\"\uFFFD\uFFFD\"");
  EXPECT_EQ(Quoted("\xC0\x80"), "\"\uFFFD\uFFFD\"");
}

TEST(FindInvalidUtf8, NamesTheFirstBadByte) {
  EXPECT_EQ(FindInvalidUtf8(""), std::string_view::npos);
  EXPECT_EQ(FindInvalidUtf8("aé€😀"), std::string_view::npos);
  EXPECT_EQ(FindInvalidUtf8("\xF4\x8F\xBF\xBF\xED\x9F\xBF\xEE\x80\x80"), std::string_view::npos);
  EXPECT_EQ(FindInvalidUtf8("ab\x80"), 2u);
  EXPECT_EQ(FindInvalidUtf8("é\xE0\x9F\xBF"), 2u) << "overlong";
  EXPECT_EQ(FindInvalidUtf8("\xF0\x8F\xBF\xBF"), 0u) << "overlong";
  EXPECT_EQ(FindInvalidUtf8("\xED\xA0\x80"), 0u) << "surrogate";
  EXPECT_EQ(FindInvalidUtf8("\xF4\x90\x80\x80"), 0u) << "above U+10FFFF";
  EXPECT_EQ(FindInvalidUtf8("\xF5\x80\x80\x80"), 0u) << "no such lead byte";
  EXPECT_EQ(FindInvalidUtf8("x\xF0\x9F\x98"), 1u) << "truncated";
}

TEST(ToValidUtf8, LeavesNothingInvalid) {
  EXPECT_EQ(ToValidUtf8("aé"), "aé");
  EXPECT_EQ(ToValidUtf8("\xFF"
                        "a\x80"),
            "\uFFFDa\uFFFD");
}

RC_GTEST_PROP(ToValidUtf8, AnyBytesBecomeValid, (const std::string& bytes)) {
  const std::string valid = ToValidUtf8(bytes);
  RC_ASSERT(FindInvalidUtf8(valid) == std::string_view::npos);
  RC_ASSERT(Quoted(valid) == Quoted(bytes));
}

TEST(AppendJsonDouble, IsShortAndStaysADouble) {
  EXPECT_EQ(Number(0), "0.0");
  EXPECT_EQ(Number(-0.0), "-0.0");
  EXPECT_EQ(Number(1), "1.0");
  EXPECT_EQ(Number(0.1), "0.1");
  EXPECT_EQ(Number(-2.5), "-2.5");
  EXPECT_EQ(Number(100000), "100000.0");
  EXPECT_EQ(Number(1e20), "100000000000000000000.0");
  EXPECT_EQ(Number(1e21), "1e+21");
  EXPECT_EQ(Number(1e-6), "0.000001");
  EXPECT_EQ(Number(1e-7), "1e-7");
  EXPECT_EQ(Number(1.5e-10), "1.5e-10");
  EXPECT_EQ(Number(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(Number(std::numeric_limits<double>::denorm_min()), "5e-324");
}

RC_GTEST_PROP(AppendJsonDouble, ReadsBackExactly, (double value)) {
  RC_ASSERT(std::strtod(Number(value).c_str(), nullptr) == value);
}

TEST(EscapedMarkup, MakesNoTagAndEndsNoAttribute) {
  EXPECT_EQ(EscapedMarkup("a <b> & \"c\""), "a &lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(EscapedMarkup("shop/web"), "shop/web");
}

}  // namespace
}  // namespace berth::base
