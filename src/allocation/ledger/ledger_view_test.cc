#include "allocation/ledger/ledger_view.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "allocation/ledger/testing/ledger.h"

namespace berth::allocation {
namespace {

using alloc::RangeKind;
using alloc::State;

class LedgerViewTest : public testing::LedgerTest {
 protected:
  static alloc::RangeTable TableOf(const std::map<std::string, std::string>& ranges) {
    alloc::RangeObjects objects;
    for (const auto& [name, body] : ranges) objects[name] = testing::FactsOf(name, body);
    return alloc::MakeRangeTable(objects, {});
  }
  static alloc::StateCounts All(const RangeState& state) {
    alloc::StateCounts counts = state.in_static;
    return counts += state.in_dynamic;
  }
};

TEST_F(LedgerViewTest, CountsAreThoseThatFollow) {
  Put("10.0.0.1");
  Put("10.0.0.2", "reserved");
  Put("10.0.0.3", "cooling");
  Put("10.0.0.9");  // Of no range.
  const auto next = TableOf({{"r10.0.0.0_28", "drained"}, {"r10.0.0.8_30", ""}});
  const auto expected = View().RangeIn(next, RangeKind::kIpRange, "10.0.0.0/28");
  ASSERT_TRUE(expected);
  Delete("r10.0.0.0_29");
  Put("r10.0.0.0_28", "drained");
  Put("r10.0.0.8_30");
  const auto now = View().RangeNamed(PoolId::kIpv4, "10.0.0.0/28");
  ASSERT_TRUE(now);
  EXPECT_EQ(expected->in_static, now->in_static);
  EXPECT_EQ(expected->in_dynamic, now->in_dynamic);
  EXPECT_EQ(expected->dynamic_band, now->dynamic_band);
  EXPECT_EQ(expected->usable, now->usable);
  EXPECT_EQ(expected->open, now->open);
  EXPECT_EQ(expected->overlaps, now->overlaps);
  EXPECT_EQ(All(*expected)[State::kTaken], U128{2});
  EXPECT_EQ(All(*expected)[State::kFree], U128{10});
  EXPECT_TRUE(expected->overlaps);
  EXPECT_FALSE(expected->open);
}

TEST_F(LedgerViewTest, AValueOnItsWayIsCountedAsTaken) {
  const auto grant = Request({The("10.0.0.4")});
  ASSERT_TRUE(grant);
  for (const char* range : {"r10.0.0.0_29", "r10.0.0.0_28"}) {
    std::string name(range + 1);
    name[name.find('_')] = '/';
    const auto expected = View().RangeIn(TableOf({{range, ""}}), RangeKind::kIpRange, name);
    ASSERT_TRUE(expected);
    EXPECT_EQ(All(*expected)[State::kTaken], U128{1}) << name;
  }
  ledger_.EndGrant(*grant);
}

TEST_F(LedgerViewTest, NothingIsSaidOfARangeThatTheTableDoesNotHave) {
  const auto table = TableOf({{"r10.0.0.0_28", ""}});
  EXPECT_FALSE(View().RangeIn(table, RangeKind::kIpRange, "10.0.0.0/29"));
  EXPECT_FALSE(View().RangeIn(table, RangeKind::kServiceCidr, "10.0.0.0/28"));
}

TEST_F(LedgerViewTest, ARangeTellsWhatItIs) {
  Put("r10.0.0.0_30", "priority=4 drained");
  Put("10.0.0.1", "reserved");
  Put("10.0.0.2", "cooling");
  const auto range = View().RangeNamed(PoolId::kIpv4, "10.0.0.0/30");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->priority, 4);
  EXPECT_FALSE(range->open);
  EXPECT_TRUE(range->overlaps);
  EXPECT_EQ(range->usable, U128{2});
  EXPECT_EQ(range->in_dynamic[State::kReserved], U128{1});
  EXPECT_EQ(range->in_dynamic[State::kCooling], U128{1});
  EXPECT_EQ(range->in_dynamic[State::kFree], U128{0});
  EXPECT_FALSE(View().RangeNamed(PoolId::kIpv6, "10.0.0.0/30"));
  EXPECT_EQ(View().RangeWith(Of("10.0.0.1"))->name, "10.0.0.0/30");
  EXPECT_EQ(View().RangeWith(Of("10.0.0.5"))->name, "10.0.0.0/29");
  EXPECT_EQ(View().Ranges(PoolId::kIpv4).size(), 2U);
  EXPECT_TRUE(View().Ranges(PoolId::kPorts).empty());
}

TEST_F(LedgerViewTest, ValuesForServicesAreThoseThatTheServiceDoesNotHave) {
  Put("10.0.0.4", "pending shop/db");
  Put("10.0.0.3", "reserved shop/web");
  Put("10.0.0.5", "allocated shop/dns");
  Put("10.0.0.6", "reserved");
  const auto values = View().ValuesForServices(PoolId::kIpv4);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].value, Bits("10.0.0.3"));
  EXPECT_EQ(values[0].service, "shop/web");
  EXPECT_EQ(values[1].service, "shop/db");
  EXPECT_TRUE(View().ValuesForServices(PoolId::kPorts).empty());
}

TEST_F(LedgerViewTest, ARangeThatIsNotOpenWithholdsItsValues) {
  Put("10.0.0.3", "reserved shop/web");
  EXPECT_FALSE(View().RangeThatWithholds(Of("10.0.0.3")));
  Put("r10.0.0.0_29", "drained");
  ASSERT_TRUE(View().RangeThatWithholds(Of("10.0.0.3")));
  EXPECT_EQ(View().RangeThatWithholds(Of("10.0.0.3"))->name, "10.0.0.0/29");
  EXPECT_FALSE(View().RangeThatWithholds(Of("10.9.9.9"))) << "no range contains it";
}

TEST_F(LedgerViewTest, ChangesGrowWithWhatRangesSay) {
  const uint64_t before = View().Changes();
  Put("10.0.0.3");
  const uint64_t taken = View().Changes();
  EXPECT_GT(taken, before);
  Put("10.0.0.3");
  EXPECT_EQ(View().Changes(), taken) << "it says the same";
}

}  // namespace
}  // namespace berth::allocation
