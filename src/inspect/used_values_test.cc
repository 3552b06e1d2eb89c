#include "inspect/used_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspect/changes.h"
#include "inspect/names.h"
#include "inspect/range_shape.h"
#include "inspect/testing/small_cluster.h"
#include "inspect/value_table.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;
using rules::RecordState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SmallCluster ShopWithRecords() {
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Range("30000-32767")
      .Add({.name = "web", .values = {"10.0.0.9", "30080"}, .type = "NodePort"})
      .Add({.name = "copy", .values = {"10.0.0.9"}})
      .Record("10.0.0.9", RecordState::kAllocated, "shop/web")
      .Record("10.0.0.8", RecordState::kFree, "")
      .Record("10.0.0.10", RecordState::kAllocated, "old/gone");
  return small;
}

TEST(UsedValuesTest, EachValueIsThereOnce) {
  const Cluster cluster = ShopWithRecords().Finish();
  const Census census(cluster);
  const UsedValues used(census);
  std::vector<std::string> all;
  for (const PoolId pool : alloc::kAllPools) {
    for (const UsedValue& each : used.Of(pool).values) {
      all.push_back(fmt::format("{} {} {}", alloc::TextOf({.pool = pool, .value = each.value}),
                                NameOf(each.state), used.OwnerOf(each)));
    }
  }
  EXPECT_THAT(all, ElementsAre("10.0.0.8 cooling ", "10.0.0.9 taken shop/copy",
                               "10.0.0.10 taken old/gone", "30080 taken shop/web"));
  EXPECT_EQ(used.Of(PoolId::kIpv4).values[1].owners, Owners::kSeveral);
  EXPECT_THAT(used.namespaces(), ElementsAre("", "shop", "old"));
  EXPECT_THAT(used.types(), ElementsAre("", "ClusterIP", "NodePort"));
}

/// Returns what changes between two clusters, "taken 10.0.0.1 shop/web" each.
std::vector<std::string> ChangesOf(SmallCluster before, SmallCluster now, size_t most = 100) {
  const Cluster old_cluster = before.Finish();
  const Cluster new_cluster = now.Finish();
  const Census old_census(old_cluster);
  const Census new_census(new_cluster);
  const Changes found = FindChanges(UsedValues(old_census), UsedValues(new_census), most);
  std::vector<std::string> out;
  for (const Change& each : found.listed) {
    out.push_back(
        fmt::format("{} {} {}", NameOf(each.kind), alloc::TextOf(each.value), each.owner));
  }
  if (found.more > 0) out.push_back(fmt::format("{} more", found.more));
  return out;
}

TEST(ChangesTest, ValuesAreTakenReleasedAndPassedOn) {
  SmallCluster before;
  before.Range("10.0.0.0/24")
      .Add({.name = "a", .values = {"10.0.0.1"}})
      .Add({.name = "b", .values = {"10.0.0.2"}})
      .Add({.name = "c", .values = {"10.0.0.3"}})
      .Record("10.0.0.5", RecordState::kReserved, "shop/e");
  SmallCluster now;
  now.Range("10.0.0.0/24")
      .Add({.name = "a", .values = {"10.0.0.1"}})
      .Add({.name = "d", .values = {"10.0.0.2"}})
      .Add({.name = "e", .values = {"10.0.0.5", "30080"}})
      .Record("10.0.0.3", RecordState::kFree, "")
      .Record("10.0.0.6", RecordState::kReserved, "shop/later");
  EXPECT_THAT(
      ChangesOf(before, now),
      ElementsAre("changed 10.0.0.2 shop/d", "released 10.0.0.3 shop/c", "taken 10.0.0.5 shop/e",
                  "changed 10.0.0.6 shop/later", "taken 30080 shop/e"));
  EXPECT_THAT(ChangesOf(before, now, 2),
              ElementsAre("changed 10.0.0.2 shop/d", "released 10.0.0.3 shop/c", "3 more"));
  EXPECT_THAT(ChangesOf(now, now), IsEmpty());
}

TEST(ChangesTest, ASecondOwnerIsAChange) {
  SmallCluster before;
  before.Range("10.0.0.0/24").Add({.name = "a", .values = {"10.0.0.1"}});
  SmallCluster now = before;
  now.Add({.name = "b", .values = {"10.0.0.1"}});
  EXPECT_THAT(ChangesOf(before, now), ElementsAre("changed 10.0.0.1 shop/a"));
}

TEST(ValueTableTest, PagesFollowEachOther) {
  SmallCluster small;
  small.Range("10.96.0.0/22").Row(1, 250).Add({.name = "z", .values = {"10.96.2.1"}});
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const UsedValues used(census);
  const RangeRef& range = census.ranges().front();
  const alloc::Interval all = AllValuesOf(*range.row);
  const ValueTable first = MakeValueTable(census, used, range, all, Matches(), std::nullopt);
  EXPECT_EQ(first.total, 251U);
  EXPECT_EQ(first.rows.size(), kMostTableRows);
  const ValueTable second = MakeValueTable(census, used, range, all, Matches(), first.next);
  EXPECT_EQ(second.rows.size(), 51U);
  EXPECT_EQ(second.rows.front().value, first.rows.back().value + 1);
  EXPECT_FALSE(second.next.has_value());
  EXPECT_EQ(second.rows.back().owner, "shop/z");
  const Matches filter(census, used, Filter::Read("s10").value());
  const ValueTable found = MakeValueTable(census, used, range, all, filter, std::nullopt);
  EXPECT_EQ(found.total, 99U) << "s1001 to s1099";
  const ValueTable rest = MakeValueTable(census, used, range, all, filter, found.rows[49].value);
  EXPECT_EQ(rest.total, 99U);
  EXPECT_EQ(rest.rows.size(), 49U);
}

TEST(RangeShapeTest, KeysNameRangesAndFindThem) {
  SmallCluster small;
  small.Range("10.0.0.0/24").Range("30000-32767").IpRange(R"({"range": "10.0.0.128/25"})");
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  for (const RangeRef& range : census.ranges()) {
    EXPECT_EQ(FindRange(census, KeyOf(range))->row, range.row);
  }
  EXPECT_FALSE(FindRange(census, "IPRange/own").has_value());
  EXPECT_TRUE(FindRange(census, "IPRange/own/IPv4").has_value());
}

TEST(RangeShapeTest, BandsExclusionsAndOtherRanges) {
  SmallCluster small;
  small.IpRange(R"({"range": "10.0.0.0/25", "excluded": ["10.0.0.20", "10.0.0.32/28"]})")
      .Range("10.0.0.64/26")
      .Range("10.1.0.0/24");
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const RangeShape shape = ShapeOf(census, *FindRange(census, "IPRange/own/IPv4"));
  EXPECT_EQ(shape.bits, 8U);
  EXPECT_EQ(shape.static_band->first - shape.all.first, 1U);
  ASSERT_EQ(shape.never_given.size(), 4U);
  EXPECT_EQ(shape.never_given[0].why, "network address");
  EXPECT_EQ(shape.never_given[1].why, "excluded by the range");
  EXPECT_EQ(shape.never_given[2].values.Size(), 16U);
  ASSERT_EQ(shape.shared.size(), 1U);
  EXPECT_EQ(shape.shared[0].range.row->text, "10.0.0.64/26");
}

TEST(RangeShapeTest, TheMapIsASquare) {
  EXPECT_EQ(MapBits({.first = 5, .last = 5}), 0U);
  EXPECT_EQ(MapBits({.first = 0, .last = 3}), 2U);
  EXPECT_EQ(MapBits({.first = 0, .last = 4}), 4U);
  EXPECT_EQ(MapBits({.first = 30000, .last = 32767}), 12U);
  EXPECT_EQ(MapBits({.first = 0, .last = base::kU128Max}), 128U);
}

}  // namespace
}  // namespace berth::inspect
