#include "inspect/whois.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/read.h"
#include "inspect/names.h"
#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

using rules::RecordState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns the answer in short: state, verdict, chance and what the record says.
std::string Short(const Census& census, const char* value) {
  const ValueAnswer answer = AskValue(census, ValueOf(value));
  std::string out(NameOf(answer.standing));
  out += " " + std::string(NameOf(answer.advice.verdict));
  if (answer.advice.one_in) out += " 1/" + base::ToDecimal(*answer.advice.one_in);
  if (answer.check != RecordCheck::kAgrees) out += " " + std::string(NameOf(answer.check));
  return out;
}

std::vector<std::string> SafeNear(const Census& census, const char* value) {
  const ValueAnswer answer = AskValue(census, ValueOf(value));
  std::vector<std::string> out;
  for (const base::U128 near : answer.advice.safe_near) {
    out.push_back(alloc::TextOf({.pool = answer.value.pool, .value = near}));
  }
  return out;
}

Question Asked(const char* text) { return ReadQuestion(text).value(); }

TEST(WhoisTest, ThePortsThatUsersHardCodedAboveTheStaticBand) {
  SmallCluster small;
  small.Range("30000-32767").Add({.name_space = "a", .name = "b", .values = {"30193", "30085"}});
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  EXPECT_EQ(Short(census, "30088"), "free MayBePicked 1/2681 NotShown");
  EXPECT_EQ(Short(census, "30084"), "free Safe NotShown");
  EXPECT_EQ(Short(census, "30193"), "taken NotNow NotShown");
  EXPECT_EQ(Short(census, "29999"), "outside NotNow NotShown");
  EXPECT_THAT(SafeNear(census, "30088"), ElementsAre("30084", "30083", "30082"));
  EXPECT_THAT(SafeNear(census, "30083"), ElementsAre("30084", "30082", "30081"));
  EXPECT_THAT(SafeNear(census, "80"), ElementsAre("30000", "30001", "30002"));
  const ValueAnswer answer = AskValue(census, ValueOf("30100"));
  ASSERT_NE(answer.below, nullptr);
  ASSERT_NE(answer.above, nullptr);
  EXPECT_EQ(answer.below->value, 30085U);
  EXPECT_EQ(answer.above->value, 30193U);
}

TEST(WhoisTest, EveryStateOfAnAddress) {
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Add({.name_space = "a", .name = "kept", .values = {"10.0.0.1"}})
      .Add({.name_space = "a", .name = "bare", .values = {"10.0.0.2"}})
      .Add({.name_space = "a", .name = "other", .values = {"10.0.0.3"}})
      .Add({.name_space = "a", .name = "one", .values = {"10.0.0.9"}})
      .Add({.name_space = "b", .name = "two", .values = {"10.0.0.9"}})
      .Record("10.0.0.1", RecordState::kAllocated, "a/kept")
      .Record("10.0.0.3", RecordState::kAllocated, "a/another")
      .Record("10.0.0.4", RecordState::kAllocated, "a/gone")
      .Record("10.0.0.5", RecordState::kReserved, "a/later")
      .Record("10.0.0.6", RecordState::kPending, "a/soon")
      .Record("10.0.0.7", RecordState::kFree, "")
      .Record("10.0.0.9", RecordState::kAllocated, "b/two");
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  EXPECT_EQ(Short(census, "10.0.0.1"), "taken NotNow");
  EXPECT_EQ(Short(census, "10.0.0.2"), "taken NotNow NoRecord");
  EXPECT_EQ(Short(census, "10.0.0.3"), "taken NotNow OtherOwner");
  EXPECT_EQ(Short(census, "10.0.0.4"), "taken NotNow Orphan");
  EXPECT_EQ(Short(census, "10.0.0.5"), "reserved NotNow");
  EXPECT_EQ(Short(census, "10.0.0.6"), "reserved NotNow");
  EXPECT_EQ(Short(census, "10.0.0.7"), "cooling Safe");
  EXPECT_EQ(Short(census, "10.0.0.8"), "free Safe");
  EXPECT_EQ(Short(census, "10.0.0.9"), "taken NotNow");
  EXPECT_EQ(AskValue(census, ValueOf("10.0.0.9")).owners.size(), 2U);
  EXPECT_EQ(Short(census, "10.0.0.0"), "unusable NotNow");
  EXPECT_EQ(Short(census, "10.0.0.255"), "unusable NotNow");
  EXPECT_EQ(Short(census, "10.0.1.1"), "outside NotNow");
  EXPECT_EQ(Short(census, "fd00::1"), "outside NotNow");
}

TEST(WhoisTest, AFullDynamicBandSpillsIntoTheStaticOne) {
  SmallCluster small;
  small.Range("10.0.0.0/27");  // The static band is 10.0.0.1 to 10.0.0.16.
  for (int i = 17; i <= 30; ++i) {
    small.Add({.name_space = "a",
               .name = "s" + std::to_string(i),
               .values = {"10.0.0." + std::to_string(i)}});
  }
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  EXPECT_EQ(Short(census, "10.0.0.5"), "free Spill 1/16 NotShown");
  EXPECT_THAT(SafeNear(census, "10.0.0.5"), IsEmpty());
}

TEST(WhoisTest, AnOverlappingRangeMayPickWhatAnotherOneKeeps) {
  SmallCluster small;
  small.Range("10.0.0.0/24").Range("10.0.0.0/25");
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  // Static in the /24 (1 to 16), and static in the /25 (1 to 16) too.
  EXPECT_EQ(Short(census, "10.0.0.16"), "free Safe NotShown");
  EXPECT_EQ(AskValue(census, ValueOf("10.0.0.16")).places.size(), 2U);
  SmallCluster wide;
  wide.Range("10.0.0.0/16").Range("10.0.0.0/24");
  const Cluster both = wide.Finish();
  const Census overlapping(both);
  // 10.0.0.100 is in the static band of the /16 and in the dynamic one of the /24.
  EXPECT_EQ(Short(overlapping, "10.0.0.100"), "free MayBePicked 1/238 NotShown");
  EXPECT_THAT(SafeNear(overlapping, "10.0.0.100"),
              ElementsAre("10.0.0.16", "10.0.0.15", "10.0.0.14"));
}

TEST(WhoisTest, AnAssumedRangeRefusesNothing) {
  SmallCluster small;
  small.Add({.name = "a", .values = {"10.96.0.10", "30001"}});
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  for (const char* value : {"10.96.200.1", "10.96.0.0", "fd00::1", "29999"}) {
    EXPECT_EQ(Short(census, value), "unknown Unknown NotShown") << value;
  }
  EXPECT_EQ(Short(census, "10.96.0.11"), "free Unknown NotShown") << "its bands are a guess";
  EXPECT_THAT(SafeNear(census, "10.96.0.11"), testing::IsEmpty());
  EXPECT_THAT(Short(census, "30090"), testing::StartsWith("free MayBePicked"));

  SmallCluster given;
  given.Range("10.96.0.0/24").Range("30000-32767");
  const Cluster known = given.Finish();
  const Census exact(known);
  for (const char* value : {"10.96.200.1", "fd00::1", "29999"}) {
    EXPECT_EQ(Short(exact, value), "outside NotNow NotShown") << value;
  }
}

TEST(WhoisTest, SafeValuesMayBeFar) {
  SmallCluster small;
  small.Range("10.96.0.0/20").Range("10.96.0.0/24");
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  // The static band of the larger range has 256 values, but the smaller one picks most of them.
  EXPECT_THAT(SafeNear(census, "10.96.0.200"),
              ElementsAre("10.96.0.16", "10.96.0.15", "10.96.0.14"));
  SmallCluster full;
  full.Range("10.96.0.0/20").Range("10.96.0.0/24").Row(1, 16);
  const Cluster taken = full.Finish();
  EXPECT_THAT(SafeNear(Census(taken), "10.96.0.200"), ElementsAre("10.96.0.255", "10.96.1.0"));
}

TEST(WhoisTest, NamesMayBeOfServicesNamespacesAndRanges) {
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Add({.name_space = "shop", .name = "web", .values = {"10.0.0.1"}, .origin = Origin::kNamed})
      .Add({.name_space = "web", .name = "shop", .values = {"10.0.0.2", "30001"}})
      .Record("10.0.0.5", RecordState::kReserved, "shop/later");
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  EXPECT_EQ(Ask(census, Asked("shop/web")).services.size(), 1U);
  EXPECT_EQ(Ask(census, Asked("svc/web")).services.size(), 1U);
  EXPECT_EQ(Ask(census, Asked("web.shop.svc")).services.size(), 1U);
  const WhoisAnswer web = Ask(census, Asked("web"));
  EXPECT_EQ(web.services.size(), 1U);
  ASSERT_TRUE(web.name_space.has_value());
  EXPECT_EQ(web.name_space->counts[alloc::PoolId::kPorts].values, 1U);
  const WhoisAnswer shop = Ask(census, Asked("ns/shop"));
  EXPECT_TRUE(shop.services.empty());
  ASSERT_TRUE(shop.name_space.has_value());
  EXPECT_EQ(shop.name_space->counts[alloc::PoolId::kIpv4].named, 1U);
  EXPECT_EQ(shop.name_space->reserved, 1U);
  EXPECT_EQ(Ask(census, Asked("10.0.0.0/24")).ranges.size(), 1U);
  EXPECT_FALSE(Ask(census, Asked("10.0.0.0/25")).Found());
  const WhoisAnswer none = Ask(census, Asked("we"));
  EXPECT_FALSE(none.Found());
  EXPECT_THAT(none.similar, ElementsAre("shop/web"));
}

TEST(WhoisTest, ExcludedRunsAreSkippedAtOnce) {
  codec::Value range;
  codec::SetAt(range, {"metadata", "name"}, "big");
  codec::SetAt(range, {"spec", "range"}, "fd00::/64");
  codec::SetAt(range, {"spec", "excluded"}, codec::Array{codec::Value("fd00::/121")});
  ClusterReader reader({.source = "test"});
  reader.AddRange(alloc::RangeKind::kIpRange, range);
  const Cluster cluster = std::move(reader).Finish();
  const Census census(cluster);
  const RangeRef& big = census.ranges().front();
  ASSERT_EQ(big.row->layout.excluded().size(), 1U);
  EXPECT_EQ(Short(census, "fd00::7"), "excluded NotNow NotShown");
  EXPECT_THAT(SafeNear(census, "fd00::7"), ElementsAre("fd00::80", "fd00::81", "fd00::82"));
}

TEST(WhoisTest, HistoryComesFromWhoeverHasIt) {
  SmallCluster small;
  const Cluster cluster = small.Range("10.0.0.0/24").Finish();
  const Census census(cluster);
  EXPECT_FALSE(AskValue(census, ValueOf("10.0.0.1")).history.has_value());
  const History history = [](const alloc::PoolValue& value) {
    return ValuePast{.spans = {{.owner = alloc::TextOf(value)}}};
  };
  const auto spans = AskValue(census, ValueOf("10.0.0.1"), history).history;
  ASSERT_TRUE(spans.has_value());
  EXPECT_EQ(spans->spans.front().owner, "10.0.0.1");
}

}  // namespace
}  // namespace berth::inspect
