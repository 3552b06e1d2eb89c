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

}  // namespace
}  // namespace berth::codec
