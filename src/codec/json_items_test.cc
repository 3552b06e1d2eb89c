#include "codec/json_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns the items of a text that comes in parts of this size, and the error if there is one.
std::vector<std::string> ItemsOf(std::string_view text, size_t part) {
  std::vector<std::string> items;
  JsonItemScanner scanner([&items](std::string_view item) {
    items.emplace_back(item);
    return true;
  });
  std::string buffer;
  while (!text.empty()) {
    buffer += text.substr(0, part);
    text.remove_prefix(std::min(part, text.size()));
    const auto done = scanner.Scan(buffer);
    if (!done) return {done.error().message};
    buffer.erase(0, *done);
  }
  if (const auto finished = scanner.Finish(); !finished) items.push_back(finished.error().message);
  return items;
}

std::vector<std::string> Items(std::string_view text) {
  std::vector<std::string> items = ItemsOf(text, text.size() + 1);
  // However the text comes, its items are the same.
  for (size_t part = 1; part <= text.size(); ++part) EXPECT_EQ(ItemsOf(text, part), items) << part;
  return items;
}

TEST(JsonItemsTest, FindsTheItemsOfEveryKindOfList) {
  EXPECT_THAT(Items(R"({"kind":"List","items":[{"a":1}, {"b":[2,{}]}],"metadata":{"items":[{}]}})"),
              ElementsAre(R"({"a":1})", R"({"b":[2,{}]})"));
  EXPECT_THAT(Items(R"( [{"a":1},[{"items":[{}]}]] )"),
              ElementsAre(R"({"a":1})", R"([{"items":[{}]}])"));
  EXPECT_THAT(Items("{\"a\":1}\n\n{\"items\":[{}]}{\"b\":2}"),
              ElementsAre(R"({"a":1})", "{}", R"({"b":2})"));
  EXPECT_THAT(Items(R"({"items":[]})"), IsEmpty());
  EXPECT_THAT(Items(""), IsEmpty());
}

TEST(JsonItemsTest, OnlyAnArrayNamedItemsAtTheTopIsAList) {
  for (const std::string_view whole :
       {R"({"x":{"items":[{}]}})", R"({"items":{"a":[{}]}})", R"({"items":null,"x":[{}]})",
        R"({"x":"items","y":[{}]})", R"({"my items":[{}]})", R"({"\"items":[{}]})"}) {
    EXPECT_THAT(Items(whole), ElementsAre(std::string(whole)));
  }
}

TEST(JsonItemsTest, BracketsInStringsAreText) {
  const std::string item = R"({"]}\"":"{[\\","b\\\"":"}"})";
  EXPECT_THAT(Items("[" + item + "]"), ElementsAre(item));
}

TEST(JsonItemsTest, WhatIsNotCompleteIsRefused) {
  EXPECT_THAT(Items(R"({"items":[{"a":1},{"b")").back(), HasSubstr("not a complete JSON document"));
  EXPECT_THAT(Items(R"([{"a":"]}])").back(), HasSubstr("at byte 10"));
  EXPECT_THAT(Items("[{}] tail").back(), HasSubstr("at byte 5"));
  EXPECT_THAT(Items("]").back(), HasSubstr("at byte 0"));
}

TEST(JsonItemsTest, StopsWhenNoFurtherItemIsWanted) {
  int count = 0;
  EXPECT_TRUE(ForEachJsonItem(R"([{},{},{)", [&count](std::string_view) {
                return ++count < 2;
              }).has_value());
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace berth::codec
