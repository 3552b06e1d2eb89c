#include "allocation/bitmaps/bitmap_follower.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/bitmaps/bitmap_change.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "state/testing/objects.h"
#include "state/wire_bitmap.h"

namespace berth::allocation {
namespace {

/// The note about the form is the object "form", and "bits" is the bitmap of ports.
class BitmapFollowerTest : public ::testing::Test {
 protected:
  static FormReader Reader() {
    return {.form = [](const state::Object& object) -> std::optional<AllocationForm> {
              if (object.Name() != "form") return std::nullopt;
              return AllocationForm::kBitmaps;
            },
            .bitmap = [](const state::Object& object) -> std::optional<BitmapId> {
              if (object.Name() != "bits") return std::nullopt;
              return BitmapId::kPorts;
            }};
  }
  state::ObjectPtr Object(const std::string& name, const state::WireText& wire) {
    return state::Object::Make(*resources_.Find("/registry/namespaces/" + name), ++revision_, wire);
  }
  state::ObjectPtr Bits(const std::string& range, const std::vector<U128>& ports) {
    std::string data;
    EXPECT_FALSE(MakeChange(ParseBitmapLayout(range).value(), {.takes = ports}, data));
    return Object("bits",
                  state::BitmapToWire(StoredBitmap({.range = range, .data = data})).value());
  }
  std::vector<StoredValues> Read(const state::ObjectPtr& now, const state::ObjectPtr& before) {
    std::vector<StoredValues> values;
    follower_.Read({.revision = revision_, .object = now, .previous = before}, values);
    return values;
  }

  const state::Resources resources_ = state::testing::MakeResources();
  int64_t revision_ = 0;
  BitmapFollower follower_{Reader()};
};

using Ports = std::vector<U128>;

TEST_F(BitmapFollowerTest, WithoutANoteThereAreRecords) {
  const auto note = Object("form", state::testing::Wire(""));
  EXPECT_EQ(follower_.ReadForm({.object = note}), AllocationForm::kBitmaps);
  EXPECT_EQ(follower_.ReadForm({.previous = note}), AllocationForm::kRecords);
  EXPECT_EQ(follower_.ReadForm({.object = Bits("30000-30100", {})}), std::nullopt);
  EXPECT_EQ(BitmapFollower({}).ReadForm({.object = note}), std::nullopt);
}

TEST_F(BitmapFollowerTest, AChangeOfABitmapIsAChangeOfValues) {
  follower_.SetForm(AllocationForm::kBitmaps);
  const auto first = Bits("30000-30100", {30001, 30002});
  auto values = Read(first, nullptr);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].pool, PoolId::kPorts);
  EXPECT_EQ(values[0].taken, Ports({30001, 30002}));
  values = Read(Bits("30000-30100", {30002, 30003}), first);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].taken, Ports({30003}));
  EXPECT_EQ(values[0].released, Ports({30001}));
}

TEST_F(BitmapFollowerTest, ABitmapOfAnotherRangeReleasesAllOfTheFirst) {
  follower_.SetForm(AllocationForm::kBitmaps);
  const auto first = Bits("30000-30100", {30001});
  Read(first, nullptr);
  const auto values = Read(Bits("30000-30200", {30001}), first);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].released, Ports({30001}));
  EXPECT_EQ(values[1].taken, Ports({30001}));
}

TEST_F(BitmapFollowerTest, ADeletedBitmapHoldsUntilThereIsAnother) {
  follower_.SetForm(AllocationForm::kBitmaps);
  const auto first = Bits("30000-30100", {30001});
  Read(first, nullptr);
  EXPECT_TRUE(Read(nullptr, first).empty());
  const auto values = Read(Bits("30000-30100", {30002}), nullptr);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].released, Ports({30001}));
}

TEST_F(BitmapFollowerTest, BitmapsThatDoNotCountAreReadLater) {
  follower_.SetForm(AllocationForm::kToBitmaps);
  EXPECT_TRUE(Read(Bits("30000-30100", {30001}), nullptr).empty());
  const auto all = follower_.All();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].pool, PoolId::kPorts);
  EXPECT_EQ(all[0].taken, Ports({30001}));
}

TEST_F(BitmapFollowerTest, OtherObjectsAreIgnored) {
  follower_.SetForm(AllocationForm::kBitmaps);
  EXPECT_TRUE(Read(Object("web", state::testing::Wire("")), nullptr).empty());
  EXPECT_TRUE(follower_.All().empty());
}

}  // namespace
}  // namespace berth::allocation
