#include "merge/field_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/testing/base_kit.h"
#include "codec/encode.h"
#include "codec/testing/codec_kit.h"

namespace berth::merge {
namespace {

using codec::Pick;
using testing::ElementsAre;
using testing::HasSubstr;

FieldSet Read(std::string_view text) {
  auto set = ReadFieldsV1(text);
  EXPECT_TRUE(set.has_value()) << text;
  return set.value_or(FieldSet());
}

std::string Again(std::string_view text) { return WriteFieldsV1(Read(text)); }

std::vector<std::string> Members(const FieldSet& set) {
  std::vector<std::string> members;
  set.ForEach([&](std::span<const PathElement> path) { members.push_back(PathText(path)); });
  return members;
}

TEST(FieldSet, IsWrittenAsItIsRead) {
  for (
      const std::string_view text :
      {R"({})", R"({"f:spec":{"f:type":{}}})", R"({"f:metadata":{"f:labels":{".":{},"f:a":{}}}})",
       R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}})",
       R"({"f:metadata":{"f:finalizers":{"v:\"a/b\"":{},"v:\"c\\\"d\"":{}}}})",
       R"({"f:a":{"i:3":{},"i:20":{}},"k:{\"a\":-1.5,\"b\":null,\"c\":true}":{},"v:[1,\"x\"]":{}})",
       R"({"f:a\u003cb\n\u0001é":{}})"}) {
    EXPECT_EQ(Again(text), text);
  }
}

TEST(FieldSet, IsWrittenInOrder) {
  // By kind, numbers as numbers, names by bytes.
  EXPECT_EQ(
      Again(R"({"i:1":{},"v:\"b\"":{},"v:2":{},"k:{\"p\":10}":{},"k:{\"p\":9}":{},"f:b":{},
                      "f:B":{}})"),
      R"({"f:B":{},"f:b":{},"k:{\"p\":9}":{},"k:{\"p\":10}":{},"v:2":{},"v:\"b\"":{},"i:1":{}})");
  // Keys by name. An element that is written in several ways is one element.
  EXPECT_EQ(
      Again(R"({"k:{\"z\":1,\"a\":2}":{"f:x":{}},"k:{ \"a\":2, \"z\":1.0 }":{".":{},"f:y":{}}})"),
      R"({"k:{\"a\":2,\"z\":1}":{".":{},"f:y":{}}})");
}

TEST(FieldSet, OnlyThePointMakesAMemberOfWhatHasMore) {
  EXPECT_THAT(
      Members(Read(R"({"f:a":{"f:b":{}},"f:c":{".":{},"f:d":{}},"f:e":{".":{}},"f:f":null})")),
      ElementsAre(".c", ".e", ".f", ".a.b", ".c.d"));
  EXPECT_EQ(Again(R"({"f:e":{".":{}}})"), R"({"f:e":{}})");
  EXPECT_EQ(Again(R"({".":{},"f:e":{}})"), R"({"f:e":{}})");
  EXPECT_TRUE(Read(R"({".":{}})").Empty());
}

TEST(FieldSet, KindsToComeArePassedOver) {
  EXPECT_EQ(Again(R"({"f:a":{"x:new":{"f:b":{}}},"y:":{}})"), R"({"f:a":{}})");
}

TEST(FieldSet, WhatMakesNoSenseIsRefused) {
  for (const std::string_view text :
       {"", "[]", "{", R"({"a":{}})", R"({"ab":{}})", R"({"f:a":"x"})", R"({"k:1":{}})",
        R"({"k:{":{}})", R"({"v:":{}})", R"({"v:a":{}})", R"({"i:x":{}})", R"({"i:":{}})",
        R"({"i:99999999999999999999":{}})", R"({"f:a":{"f:b":{"c":{}}}})"}) {
    const auto set = ReadFieldsV1(text);
    ASSERT_FALSE(set.has_value()) << text;
    EXPECT_FALSE(set.error().message.empty());
  }
  EXPECT_THAT(ReadFieldsV1(R"({"nocolon":{}})").error().message,
              HasSubstr("missing colon: nocolon"));
}

TEST(FieldSet, PathsAsMessagesShowThem) {
  EXPECT_THAT(
      Members(Read(R"({"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:name":{}}},
                       "f:x":{"v:\"a\\nb\"":{},"i:4":{}}}})")),
      ElementsAre(R"(.spec.ports[port=80,protocol="TCP"].name)", R"(.spec.x[="a\nb"])",
                  ".spec.x[4]"));
}

TEST(FieldSet, Operations) {
  const FieldSet a = Read(R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{}})");
  const FieldSet b = Read(R"({"f:a":{".":{},"f:y":{},"f:z":{}},"f:c":{}})");
  EXPECT_EQ(WriteFieldsV1(a.Union(b)),
            R"({"f:a":{".":{},"f:x":{},"f:y":{},"f:z":{}},"f:b":{},"f:c":{}})");
  EXPECT_EQ(WriteFieldsV1(a.Intersection(b)), R"({"f:a":{".":{},"f:y":{}}})");
  EXPECT_EQ(WriteFieldsV1(a.Difference(b)), R"({"f:a":{"f:x":{}},"f:b":{}})");
  EXPECT_EQ(WriteFieldsV1(a.RecursiveDifference(b)), R"({"f:b":{}})");
  EXPECT_EQ(a.Size(), 4u);
}

// Returns paths of a few elements, so that sets overlap.
std::vector<PathElement> ArbitraryPath() {
  static const std::vector<PathElement> elements = {
      PathElement::Field("a"),
      PathElement::Field("b"),
      PathElement::Key({{"port", 80}, {"protocol", "TCP"}}),
      PathElement::Key({{"port", 9}}),
      PathElement::Value("x"),
      PathElement::Value(10),
      PathElement::Index(2)};
  std::vector<PathElement> path;
  const int depth = 1 + Pick(3);
  for (int i = 0; i < depth; ++i) {
    path.push_back(elements[static_cast<size_t>(Pick(static_cast<int>(elements.size())))]);
  }
  return path;
}

using Paths = std::vector<std::vector<PathElement>>;

Paths ArbitraryPaths() {
  Paths paths;
  const int size = Pick(8);
  for (int i = 0; i < size; ++i) paths.push_back(ArbitraryPath());
  return paths;
}

bool Has(const Paths& paths, const std::vector<PathElement>& path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

RC_GTEST_PROP(FieldSetProperty, OperationsAreThoseOfSetsOfPaths, ()) {
  const Paths a = ArbitraryPaths();
  const Paths b = ArbitraryPaths();
  Paths all = a;
  all.insert(all.end(), b.begin(), b.end());
  Paths both;
  Paths only_a;
  Paths outside_b;
  for (const auto& path : all) {
    if (Has(a, path) && Has(b, path)) both.push_back(path);
    if (Has(a, path) && !Has(b, path)) only_a.push_back(path);
    bool inside_b = false;
    for (auto part = path; !part.empty(); part.pop_back()) inside_b = inside_b || Has(b, part);
    if (Has(a, path) && !inside_b) outside_b.push_back(path);
  }
  const FieldSet set_a = FieldSet::Of(a);
  const FieldSet set_b = FieldSet::Of(b);
  RC_ASSERT(set_a.Union(set_b) == FieldSet::Of(all));
  RC_ASSERT(set_a.Intersection(set_b) == FieldSet::Of(both));
  RC_ASSERT(set_a.Difference(set_b) == FieldSet::Of(only_a));
  RC_ASSERT(set_a.RecursiveDifference(set_b) == FieldSet::Of(outside_b));
  const FieldIndex index(set_b);
  RC_ASSERT(index.Intersects(set_a) == !both.empty());
  RC_ASSERT(index.Inside(set_a) == FieldSet::Of(both));
  RC_ASSERT(index.Outside(set_a) == FieldSet::Of(only_a));
  const auto path = ArbitraryPath();
  RC_ASSERT(set_a.Contains(path) == Has(a, path));
  size_t visited = 0;
  set_a.ForEach([&](std::span<const PathElement> member) {
    ++visited;
    RC_ASSERT(set_a.Contains(member));
  });
  RC_ASSERT(visited == set_a.Size());
}

RC_GTEST_PROP(FieldSetProperty, ReadsWhatItWrote, ()) {
  Paths paths = ArbitraryPaths();
  paths.push_back({PathElement::Field(codec::ArbitraryText()),
                   PathElement::Key({{"k", codec::ArbitraryScalar()}}),
                   PathElement::Value(codec::ArbitraryValue(2))});
  const FieldSet set = FieldSet::Of(paths);
  const std::string text = WriteFieldsV1(set);
  const auto again = ReadFieldsV1(text);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == set);
  RC_ASSERT(WriteFieldsV1(*again) == text);
}

TEST(FieldSet, LargeSetsTakeLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i)
    text += (i == 0 ? "\"i:" : ",\"i:") + std::to_string(i) + "\":{}";
  text += "}";
  const FieldSet set = Read(text);
  EXPECT_EQ(set.Size(), 100000u);
  EXPECT_EQ(set.Union(set), set);
  EXPECT_TRUE(set.Difference(set).Empty());
  EXPECT_EQ(WriteFieldsV1(set), text);
}

}  // namespace
}  // namespace berth::merge
