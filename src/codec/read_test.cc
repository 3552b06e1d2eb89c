#include "codec/read.h"

#include <gtest/gtest.h>

namespace berth::codec {
namespace {

const Value kService = Object{
    {"metadata", Object{{"name", "web"}, {"labels", Object{{"app", "shop"}}}}},
    {"spec", Object{{"ports", Array{Object{{"port", 80}}}}, {"publishNotReadyAddresses", true}}}};

TEST(Read, WhatIsThere) {
  EXPECT_EQ(StringAt(kService, "metadata", "name"), "web");
  EXPECT_EQ(ObjectAt(kService, "metadata", "labels").size(), 1u);
  EXPECT_EQ(IntAt(ArrayAt(kService, "spec", "ports").front(), "port"), 80);
  EXPECT_TRUE(BoolAt(kService, "spec", "publishNotReadyAddresses"));
  EXPECT_TRUE(HasAt(kService, "spec", "ports"));
  EXPECT_EQ(*FindAt(kService, "metadata", "name"), Value("web"));
}

TEST(Read, WhatIsMissingOrOfAnotherKindIsEmpty) {
  EXPECT_EQ(StringAt(kService, "metadata", "uid"), "");
  EXPECT_EQ(StringAt(kService, "metadata", "labels"), "");
  EXPECT_EQ(StringAt(kService, "a", "b", "c"), "");
  EXPECT_EQ(IntAt(kService, "metadata", "name"), 0);
  EXPECT_FALSE(BoolAt(kService, "metadata", "name"));
  EXPECT_TRUE(ObjectAt(kService, "status").empty());
  EXPECT_TRUE(ArrayAt(kService, "metadata").empty());
  EXPECT_FALSE(HasAt(kService, "metadata", "name", "x"));
}

TEST(Read, SettersMakeTheWay) {
  Value value;
  SetAt(value, {"metadata", "labels", "app"}, "shop");
  SetAt(value, {"metadata", "name"}, "web");
  EXPECT_EQ(
      value,
      Value(Object{{"metadata", Object{{"labels", Object{{"app", "shop"}}}, {"name", "web"}}}}));
  EXPECT_FALSE(EraseAt(value, {"spec", "type"}));
  EXPECT_FALSE(EraseAt(value, {}));
  EXPECT_TRUE(EraseAt(value, {"metadata", "labels"}));
  EXPECT_EQ(value, Value(Object{{"metadata", Object{{"name", "web"}}}}));
}

TEST(Read, CopyingMakesAFieldWhatItIsElsewhere) {
  Value value = Object{{"metadata", Object{{"name", "other"}, {"uid", "u"}}}};
  CopyAt(value, kService, {"metadata", "name"});
  CopyAt(value, kService, {"metadata", "uid"});
  CopyAt(value, kService, {"spec", "ports"});
  CopyAt(value, kService, {"status", "phase"});
  EXPECT_EQ(value, Value(Object{{"metadata", Object{{"name", "web"}}},
                                {"spec", Object{{"ports", Array{Object{{"port", 80}}}}}}}));
}

TEST(Read, Texts) {
  const Array list{"b", 5, "a", "b"};
  EXPECT_EQ(Texts(list), (std::vector<std::string>{"b", "", "a", "b"}));
  EXPECT_EQ(TextSet(list), (std::set<std::string_view>{"", "a", "b"}));
  EXPECT_EQ(Text(nullptr), "");
  EXPECT_EQ(Text(&list[1]), "");
  EXPECT_EQ(Text(&list[0]), "b");
}

TEST(Read, SameIsEqualOrBothAbsent) {
  const Value one = 1;
  const Value other = 1;
  const Value two = 2;
  EXPECT_TRUE(Same(&one, &other));
  EXPECT_FALSE(Same(&one, &two));
  EXPECT_FALSE(Same(&one, nullptr));
  EXPECT_FALSE(Same(nullptr, &one));
  EXPECT_TRUE(Same(nullptr, nullptr));
}

}  // namespace
}  // namespace berth::codec
