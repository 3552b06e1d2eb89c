#include "state/wire_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "state/split_text.h"
#include "state/testing/objects.h"

namespace berth::state {
namespace {

std::vector<std::string> Marked(WireText wire, const std::vector<std::string_view>& members) {
  MarkOwn(wire, members);
  EXPECT_TRUE(wire.own.count == 0 || CanSplit(wire));
  std::vector<std::string> values;
  for (size_t i = 0; i < wire.own.count; ++i) {
    values.push_back(wire.text.substr(wire.own.parts[i].at, wire.own.parts[i].size));
  }
  return values;
}

using Values = std::vector<std::string>;

TEST(MarkOwnTest, FindsTheMembersBehindEachOther) {
  const WireText wire = testing::RecordWire({});
  EXPECT_EQ(Marked(wire, {"name", "uid", "creationTimestamp", "namespace", "name"}),
            (Values{"10.0.0.1", std::string(testing::kRecordUid), "2026-11-15T17:17:39Z", "default",
                    "web-12345"}));
  EXPECT_EQ(Marked(wire, {"namespace", "name"}), (Values{"default", "web-12345"}));
  EXPECT_EQ(Marked(wire, {}), Values{});
}

TEST(MarkOwnTest, PassesOverWhatIsNotThere) {
  const WireText wire = testing::RecordWire({});
  EXPECT_EQ(Marked(wire, {"uid", "generateName", "labels", "namespace", "uid"}),
            (Values{std::string(testing::kRecordUid), "default"}));
}

TEST(MarkOwnTest, DoesNotLookIntoManagedFieldsAndBeforeTheMetadata) {
  EXPECT_EQ(Marked(testing::RecordWire({}), {"kind", "time", "fieldsType"}), Values{});
  // "apiVersion" is before the metadata and in the managed fields.
  EXPECT_EQ(Marked(testing::RecordWire({}), {"apiVersion", "resource"}), Values{"services"});
}

TEST(MarkOwnTest, ValuesMayBeEmptyAndHaveQuotes) {
  EXPECT_EQ(
      Marked(testing::RecordWire({.name_space = "", .owner = R"(a\"b\\)"}), {"namespace", "name"}),
      (Values{"", R"(a\"b\\)"}));
}

TEST(MarkOwnTest, MarksAtMostAsManyAsThereIsRoomFor) {
  WireText wire;
  std::string text = "{";
  for (int i = 0; i < 10; ++i) text += R"("a":"x",)";
  wire.text = text;
  EXPECT_EQ(Marked(wire, {"a", "a", "a", "a", "a", "a", "a", "a", "a", "a"}),
            Values(OwnParts::kMost, "x"));
  wire.text = R"({"a":"no end)";
  EXPECT_EQ(Marked(wire, {"a"}), Values{});
  wire.text = R"({"a":"\)";
  EXPECT_EQ(Marked(wire, {"a"}), Values{});
}

}  // namespace
}  // namespace berth::state
