#include "codec/json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "codec/testing/codec_kit.h"

namespace berth::codec {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

Value Parsed(std::string_view text) {
  const base::Result<Value> result = ParseJson(text);
  EXPECT_TRUE(result.has_value()) << text << ": " << result.error().message;
  return result.value_or(Value("parse failed"));
}

// Returns ParseJson's message about a text that it must refuse.
std::string ParseError(std::string_view text, const JsonLimits& limits = {}) {
  const base::Result<Value> result = ParseJson(text, limits);
  if (result.has_value()) return "accepted: " + WriteJson(*result);
  EXPECT_EQ(result.error().reason, base::Reason::kBadRequest);
  EXPECT_THAT(result.error().message, ::testing::StartsWith("invalid JSON: "));
  return result.error().message;
}

TEST(ParseJson, ReadsEveryKind) {
  EXPECT_EQ(Parsed(R"( { "a" : [ null , true , false , -1 , 2.5 , "x" , { } , [ ] ] } )"),
            Value(Object{{"a", Array{nullptr, true, false, -1, 2.5, "x", Object(), Array()}}}));
  EXPECT_EQ(Parsed("7"), Value(7));
  EXPECT_EQ(Parsed("\"s\""), Value("s"));
}

TEST(ParseJson, KeepsTheOrderOfKeysAndTheLastDuplicate) {
  EXPECT_EQ(WriteJson(Parsed(R"({"b":1,"a":2,"b":{"c":3},"d":4})")),
            R"({"b":{"c":3},"a":2,"d":4})");
}

TEST(ParseJson, DecodesEscapes) {
  EXPECT_EQ(Parsed(R"("\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00")"), Value("\"\\/\b\f\n\r\té😀"));
  EXPECT_EQ(Parsed(R"({"a\u0000b":"\u0000"})"),
            Value(Object{{std::string("a\0b", 3), std::string(1, '\0')}}));
}

TEST(ParseJson, NumbersAtTheLimits) {
  EXPECT_EQ(Parsed("9223372036854775807"), Value(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(Parsed("-9223372036854775808"), Value(std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(Parsed("9223372036854775808"), Value(uint64_t{1} << 63));
  EXPECT_EQ(Parsed("18446744073709551615"), Value(~uint64_t{0}));
  EXPECT_EQ(Parsed("1.7976931348623157e308"), Value(std::numeric_limits<double>::max()));
  EXPECT_EQ(Parsed("5e-324"), Value(std::numeric_limits<double>::denorm_min()));
  EXPECT_EQ(Parsed("1e-999"), Value(0.0));
  EXPECT_EQ(Parsed("-0"), Value(0));
  EXPECT_TRUE(std::signbit(*Parsed("-0.0").AsDouble()));
  for (const std::string_view text :
       {"1e999", "-1e999", "18446744073709551616", "-9223372036854775809", "1.", ".5", "01", "-",
        "+1", "1e", "0x10", "1_000", "1.2.3"}) {
    EXPECT_THAT(ParseError(text), ::testing::Not(HasSubstr("accepted"))) << text;
  }
  EXPECT_EQ(ParseError("[1e999]"), "invalid JSON: a number is malformed or out of range");
}

TEST(ParseJson, RefusesWhatIsNotJson) {
  for (const std::string_view text : {"{",           "[",
                                      "[1",          "[1,",
                                      "[1,]",        "{\"a\"",
                                      "{\"a\":",     "{\"a\":1,}",
                                      "{a:1}",       "{'a':1}",
                                      "nul",         "tru",
                                      "truex",       "NaN",
                                      "Infinity",    "[1 2]",
                                      "{\"a\" 1}",   "1 2",
                                      "{} {}",       "{}x",
                                      "]",           "}",
                                      ",",           ":",
                                      "/* c */ 1",   "\"\\x\"",
                                      "\"\\ud800\"", "\"\\u12\"",
                                      "[1]]",        "\xEF\xBB\xBF{",
                                      "{1:2}",       "{\"a\":1 \"b\":2}"}) {
    EXPECT_THAT(ParseError(text), ::testing::Not(HasSubstr("accepted"))) << text;
  }
}

TEST(ParseJson, SaysWhatIsWrongAndWhereIfItCan) {
  EXPECT_EQ(ParseError(""), "invalid JSON: there is nothing but white space");
  EXPECT_EQ(ParseError(" \n"), "invalid JSON: there is nothing but white space");
  EXPECT_EQ(ParseError("{\"a\":\"\xC3\x28\"}"), "invalid JSON: not UTF-8 at byte 6");
  EXPECT_EQ(ParseError("[\"ok\", \"a\nb\"]"),
            "invalid JSON: a string holds a control character at byte 9");
  EXPECT_EQ(ParseError("[\"ok\\\"\", \"abc]"),
            "invalid JSON: a string has no end; it begins at byte 9");
  EXPECT_THAT(ParseError("{} x"), HasSubstr("left over"));
  EXPECT_THAT(ParseError("[nulL]"), HasSubstr("a word is not true, false or null"));
  EXPECT_THAT(ParseError(R"("\q")"), HasSubstr("escape"));
}

TEST(ParseJson, RefusesNulBytes) {
  EXPECT_THAT(ParseError(std::string_view("{}\0", 3)), HasSubstr("invalid JSON"));
  EXPECT_THAT(ParseError(std::string_view("\0", 1)), HasSubstr("invalid JSON"));
  EXPECT_THAT(ParseError(std::string_view("[\"a\0b\"]", 7)), EndsWith("character at byte 3"));
}

TEST(ParseJson, RefusesBadUtf8) {
  for (const std::string_view bad : {"\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xFF",
                                     "\xF4\x90\x80\x80", "\xE2\x82", "\xF0\x9F\x98"}) {
    EXPECT_THAT(ParseError("[\"ab" + std::string(bad) + "\"]"), EndsWith("not UTF-8 at byte 4"));
  }
}

TEST(ParseJson, EveryTruncationIsRefused) {
  const std::string text = R"({"metadata":{"name":"x\u00e9\n","n":[1,-2.5e3,true,null]},"é":{}})";
  Parsed(text);
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ParseJson(text.substr(0, size)).has_value()) << size;
  }
}

TEST(ParseJson, DepthIsLimitedExactly) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseJson(nested(256)).has_value());
  EXPECT_EQ(ParseError(nested(257)),
            "invalid JSON: arrays and objects are nested more than 256 deep at byte 256");
  EXPECT_TRUE(ParseJson(nested(3), {.depth = 3}).has_value());
  EXPECT_TRUE(ParseJson("[[[1]]]", {.depth = 3}).has_value());
  EXPECT_EQ(ParseError("[[\"[\",{\"a\":[]}]]", {.depth = 3}),
            "invalid JSON: arrays and objects are nested more than 3 deep at byte 11");
  EXPECT_TRUE(ParseJson("1", {.depth = 0}).has_value());
  EXPECT_THAT(ParseError("[]", {.depth = 0}), HasSubstr("more than 0 deep at byte 0"));
  EXPECT_THAT(ParseError(nested(1'000'000)), HasSubstr("deep"));
  EXPECT_THAT(ParseError(std::string(1'000'000, '[')), HasSubstr("invalid"));
}

TEST(ParseJson, NoLimitOnDepthBeyondTheDeepestAllowed) {
  const std::string text = WriteJson(Nested(kDeepestAllowed));
  EXPECT_EQ(*ParseJson(text, {.depth = 1'000'000}), Nested(kDeepestAllowed));
  EXPECT_THAT(ParseError("[" + text + "]", {.depth = 1'000'000}), HasSubstr("more than 1024 deep"));
}

TEST(ParseJson, SizeIsLimitedExactly) {
  EXPECT_TRUE(ParseJson("[1]", {.bytes = 3}).has_value());
  EXPECT_EQ(ParseError("[12]", {.bytes = 3}),
            "invalid JSON: 4 bytes, which is more than the limit of 3 bytes");
  const std::string large = fmt::format("\"{:a<{}}\"", "", 3 * 1024 * 1024 - 2);
  EXPECT_TRUE(ParseJson(large).has_value());
  EXPECT_FALSE(ParseJson(large + " ").has_value());
}

TEST(ParseJson, ManyKeysAndManyDuplicates) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += fmt::format("\"key{}\":{},", i, i);
  for (int i = 0; i < 50'000; ++i) text += fmt::format("\"key{}\":{},", i, -i);
  text.back() = '}';
  const Value value = Parsed(text);
  EXPECT_EQ(value.AsObject()->size(), 100'000u);
  EXPECT_EQ(*value.Find("key49999"), Value(-49999));
  EXPECT_EQ(*value.Find("key99999"), Value(99999));
}

TEST(WriteJson, Compact) {
  EXPECT_EQ(WriteJson(Object{{"b", Array{1, "x", nullptr}}, {"a", Object{{"c", true}}}}),
            R"({"b":[1,"x",null],"a":{"c":true}})");
  EXPECT_EQ(WriteJson(Object()), "{}");
  EXPECT_EQ(WriteJson(Array{Array(), Object()}), "[[],{}]");
  EXPECT_EQ(WriteJson(~uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(WriteJson("<a&b>/"), R"("<a&b>/")");
  EXPECT_EQ(WriteJson("a\xFF"), "\"a\uFFFD\"");
}

TEST(WriteJson, IndentedAsKubectlDoesIt) {
  const Value value =
      Object{{"kind", "List"}, {"items", Array{Object{{"a", 1}}, Array()}}, {"metadata", Object()}};
  EXPECT_EQ(WriteJson(value, {.indent = 4}), R"({
    "kind": "List",
    "items": [
        {
            "a": 1
        },
        []
    ],
    "metadata": {}
})");
  EXPECT_EQ(WriteJson(Array{1, Array{2}}, {.indent = 2}), "[\n  1,\n  [\n    2\n  ]\n]");
}

// No parser would make this tree, but writing it must not exhaust the stack.
TEST(WriteJson, AnyDepth) {
  constexpr size_t kDepth = 2000;
  EXPECT_EQ(WriteJson(Nested(kDepth)), std::string(kDepth, '[') + std::string(kDepth, ']'));
}

RC_GTEST_PROP(Json, EveryValueReadsBackEqual, ()) {
  for (int64_t i = 0; i < DrawsPerCase(); ++i) {
    const Value value = ArbitraryValue(4);
    for (const int indent : {0, 2, 4}) {
      const std::string text = WriteJson(value, {.indent = indent});
      const base::Result<Value> again = ParseJson(text);
      RC_ASSERT(again.has_value());
      RC_ASSERT(*again == value);
      RC_ASSERT(WriteJson(*again, {.indent = indent}) == text);
    }
  }
}

// Arbitrary bytes are refused or round-trip, but never crash.
RC_GTEST_PROP(Json, ArbitraryBytesAreHandled, (const std::string& bytes)) {
  for (const std::string& text : {bytes, "\"" + bytes + "\"", "[" + bytes + "]"}) {
    const base::Result<Value> value = ParseJson(text);
    if (value.has_value()) RC_ASSERT(*ParseJson(WriteJson(*value)) == *value);
  }
}

}  // namespace
}  // namespace berth::codec
