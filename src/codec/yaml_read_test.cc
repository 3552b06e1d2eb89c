#include "codec/yaml_read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/testing/codec_kit.h"
#include "codec/yaml.h"

namespace berth::codec {
namespace {

using ::testing::HasSubstr;

// Returns the document as JSON, or its error.
std::string AsJson(std::string_view yaml) {
  const auto document = ParseYaml(yaml);
  if (document) return WriteJson(document->value);
  EXPECT_EQ(document.error().reason, base::Reason::kBadRequest);
  return document.error().message;
}

TEST(ParseYaml, ScalarsAsTheApiServerTakesThem) {
  const struct {
    std::string_view yaml;
    std::string_view json;
  } rows[] = {
      {"", "null"},
      {"~", "null"},
      {"null", "null"},
      {"NULL", "null"},
      {"nUll", "\"nUll\""},
      {"yes", "true"},
      {"No", "false"},
      {"ON", "true"},
      {"off", "false"},
      {"y", "true"},
      {"N", "false"},
      {"True", "true"},
      {"FALSE", "false"},
      {"tRUE", "\"tRUE\""},
      {"80", "80"},
      {"+80", "80"},
      {"-80", "-80"},
      {"0", "0"},
      {"-0", "0"},
      {"017", "15"},
      {"0o17", "15"},
      {"08", "8"},
      {"0x1F", "31"},
      {"-0x1F", "-31"},
      {"0b101", "5"},
      {"1_000", "1000"},
      {"0x", "\"0x\""},
      {"0b2", "\"0b2\""},
      {"1__0", "10"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"1.", "1"},
      {"80.0", "80"},
      {"8e1", "80"},
      {"1e3", "1000"},
      {"-1.5E-7", "-1.5e-7"},
      {"1e400", "\"1e400\""},
      {".", "\".\""},
      {"1.2.3", "\"1.2.3\""},
      {"10.96.0.1", "\"10.96.0.1\""},
      {"fd00::1", "\"fd00::1\""},
      {"1:30", "\"1:30\""},
      {"2026-11-15", "\"2026-11-15\""},
      {"2026-11-15T04:35:00Z", "\"2026-11-15T04:35:00Z\""},
      {"_1", "\"_1\""},
      {"+", "\"+\""},
      {"-", "[null]"},
      {"=", "\"=\""},
      {"<<", "\"<<\""},
      {"web", "\"web\""},
      {"\"80\"", "\"80\""},
      {"'yes'", "\"yes\""},
      {"|\n  80\n", "\"80\\n\""},
      {"!!str 80", "\"80\""},
      {"!!int \"80\"", "80"},
      {"!!float 1", "1"},
      {"!!bool \"yes\"", "true"},
      {"!!null ''", "null"},
      {"! 80", "\"80\""},
  };
  for (const auto& row : rows) EXPECT_EQ(AsJson(row.yaml), row.json) << row.yaml;
}

TEST(ParseYaml, Structures) {
  EXPECT_EQ(AsJson("# comment\n---\na: {b: [1, two]}\nc:\n- d: 1\n  e: 2\n- - x\n"),
            R"({"a":{"b":[1,"two"]},"c":[{"d":1,"e":2},["x"]]})");
  EXPECT_EQ(AsJson(R"({"a": {"b": [1, "x\u00e9"]}, "c": null})"),
            R"({"a":{"b":[1,"xé"]},"c":null})");
  EXPECT_EQ(AsJson("1: a\ny: b\n1.5: c\n'2': d\n"), R"({"1":"a","true":"b","1.5":"c","2":"d"})");
  EXPECT_EQ(AsJson("a: &x {m: 1}\nb: *x\nc: [*x, *x]\n"),
            R"({"a":{"m":1},"b":{"m":1},"c":[{"m":1},{"m":1}]})");
  EXPECT_EQ(AsJson("a: &x 1\nb: &x 2\nc: *x\n"), R"({"a":1,"b":2,"c":2})");
  EXPECT_EQ(AsJson("--- 1\n...\n"), "1");
}

TEST(ParseYaml, DuplicateKeysWithTheirLines) {
  const auto document = ParseYaml("a: 1\nb:\n- c: 1\n  c:\n    d: 1\n    d: 2\na: 3\n");
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(WriteJson(document->value), R"({"a":3,"b":[{"c":{"d":2}}]})");
  ASSERT_EQ(document->duplicates.size(), 3u);
  // A mapping begins at its first key.
  EXPECT_EQ(document->duplicates[0], (DuplicateKey{.path = "b[0].c", .key = "c", .line = 5}));
  EXPECT_EQ(document->duplicates[1], (DuplicateKey{.path = "b[0].c.d", .key = "d", .line = 6}));
  EXPECT_EQ(document->duplicates[2], (DuplicateKey{.path = "a", .key = "a", .line = 7}));
}

TEST(ParseYaml, MergeKeysAreFollowedOnDemand) {
  const auto followed = [](std::string_view text) {
    const auto parsed = ParseYaml(text, {}, MergeKeys::kFollow);
    return parsed ? WriteJson(parsed->value) : parsed.error().message;
  };
  EXPECT_EQ(followed("a: &x {b: 1, d: 2}\nc:\n  <<: *x\n  d: 3\n"),
            R"({"a":{"b":1,"d":2},"c":{"d":3,"b":1}})");
  EXPECT_EQ(followed("a: {<<: [{b: 1}, {b: 2, c: 3}]}\n"), R"({"a":{"b":1,"c":3}})");
  EXPECT_EQ(followed("a: {\"<<\": 1}\n"), R"({"a":{"<<":1}})");
  EXPECT_THAT(followed("a: {<<: 1}\n"), HasSubstr("map merge requires map"));
  EXPECT_THAT(followed("a: {<<: [1]}\n"), HasSubstr("map merge requires map"));
}

TEST(ParseYaml, WhatIsRefused) {
  EXPECT_EQ(AsJson("a: ["), "yaml: line 1: did not find expected node content");
  EXPECT_EQ(AsJson("a: b: c"), "yaml: mapping values are not allowed in this context");
  EXPECT_EQ(AsJson("x: 1\na:\n\tb: 1\n"),
            "yaml: line 3: found character that cannot start any token");
  EXPECT_EQ(AsJson("a: *b"), "yaml: unknown anchor 'b' referenced");
  EXPECT_EQ(AsJson("a: &x [*x]"), "yaml: anchor 'x' value contains itself");
  EXPECT_EQ(AsJson("a: 1\n---\nb: 1\n"), "yaml: there is more than one document");
  EXPECT_EQ(AsJson("a: .inf"), "yaml: \".inf\" is not a number in JSON");
  EXPECT_EQ(AsJson("a: &x {b: 1}\nc:\n  <<: *x\n"), "yaml: merge keys (<<) are not supported");
  EXPECT_EQ(AsJson("? [a]\n: 1"),
            "yaml: a key of a mapping is neither a string nor a number nor a boolean");
  EXPECT_EQ(AsJson("!!binary aGk="), "yaml: \"aGk=\" cannot be taken for !!binary");
  EXPECT_EQ(AsJson("!custom x"), "yaml: \"!custom\" is a tag that is not supported");
  EXPECT_EQ(AsJson("!!set {a: 1}"),
            "yaml: \"tag:yaml.org,2002:set\" is a tag that is not supported");
  EXPECT_EQ(AsJson("!!int yes"), "yaml: \"yes\" cannot be taken for !!int");
  EXPECT_EQ(AsJson(std::string_view("a: \0", 4)), "yaml: control characters are not allowed");
  EXPECT_THAT(AsJson("a: \xFF"), HasSubstr("yaml: "));
}

TEST(ParseYaml, Limits) {
  EXPECT_THAT(AsJson(std::string(100'000, '[')), HasSubstr("nested more than 256 deep"));
  EXPECT_THAT(AsJson(std::string(4 << 20, 'a')), HasSubstr("more than the limit of 3145728 bytes"));
  // Each line is ten times as long as the one before: three gigabytes if it were expanded.
  std::string laughs = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    laughs += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i)
      laughs += std::string(i > 0 ? ",*" : "*") + static_cast<char>(c - 1);
    laughs += "]\n";
  }
  EXPECT_THAT(AsJson(laughs), HasSubstr("with all aliases followed the document is larger"));
  // Anchors inside anchors: the copies kept for them must not grow with the depth either.
  std::string nested = std::string(20'000, 'x');
  for (int i = 0; i < 250; ++i) nested = "[&n" + std::to_string(i) + " " + nested + "]";
  EXPECT_THAT(AsJson(nested), HasSubstr("with all aliases followed the document is larger"));
}

RC_GTEST_PROP(ParseYaml, ReadsWhatWriteYamlWrites, ()) {
  for (int64_t i = 0; i < DrawsPerCase(); ++i) {
    Value value = ArbitraryValue(3);
    const auto again = ParseYaml(WriteYaml(value));
    RC_ASSERT(again.has_value());
    // A float without a fraction comes back as an integer, as in JSON made by Go.
    const auto normal = ParseYaml(WriteYaml(again->value));
    RC_ASSERT(normal.has_value() && normal->value == again->value);
  }
}

}  // namespace
}  // namespace berth::codec
