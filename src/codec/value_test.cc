#include "codec/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include "codec/testing/codec_kit.h"

namespace berth::codec {
namespace {

using ::testing::ElementsAre;

static_assert(std::is_nothrow_move_constructible_v<Value>);
static_assert(std::is_nothrow_move_assignable_v<Value>);
static_assert(std::regular<Value>);
static_assert(std::regular<Object>);
static_assert(sizeof(Value) <= 40);

std::vector<std::string> Keys(const Object& object) {
  std::vector<std::string> keys;
  for (const Member& member : object) keys.push_back(member.key);
  return keys;
}

TEST(Value, TakesItsKindFromWhatItIsMadeOf) {
  EXPECT_EQ(Value().GetKind(), Kind::kNull);
  EXPECT_EQ(Value(nullptr).GetKind(), Kind::kNull);
  EXPECT_EQ(Value(true).GetKind(), Kind::kBool);
  EXPECT_EQ(Value(1).GetKind(), Kind::kInt);
  EXPECT_EQ(Value(uint16_t{1}).GetKind(), Kind::kInt);
  EXPECT_EQ(Value(1.0).GetKind(), Kind::kDouble);
  EXPECT_EQ(Value("text").GetKind(), Kind::kString);
  EXPECT_EQ(Value(std::string("text")).GetKind(), Kind::kString);
  EXPECT_EQ(Value(std::string_view("text")).GetKind(), Kind::kString);
  EXPECT_EQ(Value(Array()).GetKind(), Kind::kArray);
  EXPECT_EQ(Value(Object()).GetKind(), Kind::kObject);
}

TEST(Value, HasOneFormPerNumber) {
  const uint64_t limit = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Value(limit).GetKind(), Kind::kInt);
  EXPECT_EQ(Value(limit + 1).GetKind(), Kind::kUint);
  EXPECT_EQ(Value(5U), Value(5));
  EXPECT_NE(Value(5.0), Value(5));
  EXPECT_TRUE(Value(std::nan("")).IsNull());
  EXPECT_TRUE(Value(-HUGE_VAL).IsNull());
}

TEST(Value, GettersAnswerForTheirKindOnly) {
  EXPECT_EQ(Value(true).AsBool(), true);
  EXPECT_EQ(Value(1).AsBool(), std::nullopt);
  EXPECT_EQ(Value(-1).AsInt(), -1);
  EXPECT_EQ(Value(-1).AsUint(), std::nullopt);
  EXPECT_EQ(Value(7).AsUint(), 7U);
  EXPECT_EQ(Value(~uint64_t{0}).AsUint(), ~uint64_t{0});
  EXPECT_EQ(Value(~uint64_t{0}).AsInt(), std::nullopt);
  EXPECT_EQ(Value(true).AsInt(), std::nullopt);
  EXPECT_EQ(Value(0.5).AsDouble(), 0.5);
  EXPECT_EQ(Value(2).AsDouble(), 2.0);
  EXPECT_EQ(Value(uint64_t{1} << 63).AsDouble(), std::ldexp(1, 63));
  EXPECT_EQ(Value("2").AsDouble(), std::nullopt);
  EXPECT_EQ(*Value("text").AsString(), "text");
  EXPECT_EQ(Value(1).AsString(), nullptr);
  EXPECT_EQ(Value(Object()).AsArray(), nullptr);
  EXPECT_EQ(Value(Array()).AsObject(), nullptr);
}

TEST(Value, SetAndAppendBuildTrees) {
  Value root;
  root.Set("spec", {}).Set("ports", {}).Append(80);
  root.Find("spec")->Find("ports")->Append("http");
  EXPECT_EQ(root, Value(Object{{"spec", Object{{"ports", Array{80, "http"}}}}}));
  EXPECT_EQ(root.Find("nothing"), nullptr);
  EXPECT_EQ(root.Find("spec")->Find("ports")->Find("x"), nullptr) << "an array has no keys";
  Value scalar = 1;
  scalar.Set("a", 2);
  EXPECT_EQ(scalar, Value(Object{{"a", 2}}));
}

TEST(Value, CopiesAreDeepAndMovesTakeAll) {
  Value a = Object{{"list", Array{1, 2}}};
  Value b = a;
  b.Find("list")->Append(3);
  EXPECT_EQ(a.Find("list")->AsArray()->size(), 2u);
  const Value* inside = b.Find("list");
  Value c = std::move(b);
  EXPECT_EQ(c.Find("list"), inside) << "a move does not copy";
}

TEST(Value, CanBeReplacedByAPartOfItself) {
  Value value = Object{{"inner", Object{{"deep", "text"}}}};
  value = Value(*value.Find("inner"));
  EXPECT_EQ(value, Value(Object{{"deep", "text"}}));
}

TEST(Object, KeepsInsertionOrderAndEachKeyOnce) {
  Object object{{"b", 1}, {"a", 2}, {"b", 3}};
  EXPECT_THAT(Keys(object), ElementsAre("b", "a"));
  EXPECT_EQ(*object.Find("b"), Value(3));
  object.Set("c", 4);
  object.Set("a", 5);
  EXPECT_THAT(Keys(object), ElementsAre("b", "a", "c"));
  EXPECT_TRUE(object.Erase("a"));
  EXPECT_FALSE(object.Erase("a"));
  EXPECT_THAT(Keys(object), ElementsAre("b", "c"));
  EXPECT_EQ(object.Find("a"), nullptr);
}

TEST(Object, EqualityIgnoresOrder) {
  EXPECT_EQ((Object{{"a", 1}, {"b", 2}}), (Object{{"b", 2}, {"a", 1}}));
  EXPECT_NE((Object{{"a", 1}, {"b", 2}}), (Object{{"a", 1}, {"b", 3}}));
  EXPECT_NE((Object{{"a", 1}}), (Object{{"b", 1}}));
  EXPECT_NE((Object{{"a", 1}}), (Object{{"a", 1}, {"b", 2}}));
  EXPECT_NE((Array{1, 2}), (Array{2, 1}));
}

// With a hundred thousand keys, a step that looked at all of them would be too slow.
TEST(Object, StaysFastWithManyKeys) {
  constexpr int kKeys = 100'000;
  Object forwards;
  Object backwards;
  for (int i = 0; i < kKeys; ++i) {
    forwards.Set(std::to_string(i), i);
    backwards.Set(std::to_string(kKeys - 1 - i), kKeys - 1 - i);
  }
  EXPECT_EQ(forwards, backwards);
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(forwards.Find(std::to_string(i))->AsInt(), i);
  EXPECT_EQ(forwards.Find("x"), nullptr);
  forwards.EraseIf([](const Member& member) { return *member.value.AsInt() % 2 == 0; });
  EXPECT_EQ(forwards.size(), size_t{kKeys / 2});
  EXPECT_EQ(forwards.Find("2"), nullptr);
  EXPECT_EQ(*forwards.Find("3"), Value(3));
  const Object copy = forwards;
  EXPECT_EQ(copy, forwards);
  EXPECT_EQ(*copy.Find("99999"), Value(99999));
}

// Compares with std::map, around the size at which the index is added and removed.
RC_GTEST_PROP(Object, BehavesAsAMap, ()) {
  Object object;
  std::map<std::string, Value> model;
  const int steps = *rc::gen::inRange(0, 200);
  for (int i = 0; i < steps; ++i) {
    const std::string key = std::to_string(*rc::gen::inRange(0, 40));
    if (*rc::gen::inRange(0, 4) == 0) {
      RC_ASSERT(object.Erase(key) == (model.erase(key) == 1));
    } else {
      object.Set(key, i);
      model.insert_or_assign(key, i);
    }
    RC_ASSERT(object.size() == model.size());
  }
  for (int i = 0; i < 40; ++i) {
    const Value* found = object.Find(std::to_string(i));
    const auto expected = model.find(std::to_string(i));
    RC_ASSERT((found == nullptr) == (expected == model.end()));
    if (found != nullptr) RC_ASSERT(*found == expected->second);
  }
}

RC_GTEST_PROP(Value, CopiesAreEqual, ()) {
  const Value value = ArbitraryValue(4);
  Value copy = value;
  RC_ASSERT(copy == value);
  const Value moved = std::move(copy);
  RC_ASSERT(moved == value);
}

TEST(Object, FromUniqueIsFoundByKey) {
  for (const int size : {0, 3, 100}) {
    std::vector<Member> members;
    for (int i = 0; i < size; ++i) members.push_back({std::to_string(i), i});
    const Object object = Object::FromUnique(std::move(members));
    ASSERT_EQ(object.size(), static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) EXPECT_EQ(*object.Find(std::to_string(i)), Value(i));
    EXPECT_EQ(object.Find("x"), nullptr);
  }
}

TEST(Value, MadeInPlace) {
  Value value(5);
  value.MakeArray().push_back(1);
  EXPECT_EQ(value, Value(Array{1}));
  value.MakeObject().Set("a", 1);
  EXPECT_EQ(value, Value(Object{{"a", 1}}));
  EXPECT_EQ(value.MakeString("x"), "x");
  EXPECT_EQ(value, Value("x"));
}

}  // namespace
}  // namespace berth::codec
