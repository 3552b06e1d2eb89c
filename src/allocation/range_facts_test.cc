#include "allocation/range_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/uint128.h"
#include "codec/testing_text.h"

namespace berth::allocation {
namespace {

using alloc::Band;
using alloc::PoolId;
using alloc::RangeFacts;
using alloc::RangeKind;
using codec::Json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RangeFactsTest : public ::testing::Test {
 protected:
  RangeFacts Of(const api::Kind& kind, const std::string& rest, const std::string& name = "extra",
                const registry::Gates& gates = {}) const {
    return RangeFactsOf(*kinds_.FindRow(kind),
                        Json("{'metadata':{'name':'" + name + "'}," + rest + "}"), gates);
  }
  RangeFacts OfAddresses(const std::string& spec, const std::string& name = "extra",
                         const registry::Gates& gates = {}) const {
    return Of(api::kIpRangeKind, "'spec':" + spec, name, gates);
  }
  RangeFacts OfPorts(const std::string& spec, const std::string& name = "extra",
                     const registry::Gates& gates = {}) const {
    return Of(api::kNodePortRangeKind, "'spec':" + spec, name, gates);
  }

  static base::U128 StaticSize(const RangeFacts& facts) {
    const auto band = facts.parts.at(0).row.layout.BandSpan(Band::kStatic);
    return band ? band->Size() : 0;
  }

  const registry::Kinds kinds_;
};

TEST_F(RangeFactsTest, AnIpRangeWithAllOptions) {
  const RangeFacts facts = OfAddresses(
      "{'range':'10.1.0.0/24','primary':true,'priority':7,'staticBand':5,'strict':true,"
      "'excluded':['10.1.0.9','10.1.0.64/26'],'coolDownSeconds':60}");
  EXPECT_EQ(facts.kind, RangeKind::kIpRange);
  EXPECT_TRUE(facts.primary);
  ASSERT_THAT(facts.parts, SizeIs(1));
  EXPECT_EQ(facts.parts[0].pool, PoolId::kIpv4);
  const alloc::RangeRow& row = facts.parts[0].row;
  EXPECT_EQ(row.name, "extra");
  EXPECT_EQ(row.text, "10.1.0.0/24");
  EXPECT_EQ(row.priority, 7);
  EXPECT_TRUE(row.open);
  EXPECT_EQ(row.cool_down, std::chrono::seconds(60));
  EXPECT_TRUE(row.layout.strict());
  EXPECT_EQ(StaticSize(facts), base::U128{5});
  const base::U128 first = 0x0A010000;
  EXPECT_EQ(row.layout.excluded(),
            (std::vector<alloc::Interval>{{first + 9, first + 9}, {first + 64, first + 127}}));
}

TEST_F(RangeFactsTest, DefaultsAreTheFormulas) {
  EXPECT_EQ(StaticSize(OfAddresses("{'range':'10.1.0.0/16'}")), base::U128{256});
  EXPECT_EQ(StaticSize(OfPorts("{'range':'30000-32767'}")), base::U128{86});
  const RangeFacts facts = OfAddresses("{'range':'2001:db8::/64'}");
  EXPECT_FALSE(facts.primary);
  EXPECT_EQ(facts.parts.at(0).pool, PoolId::kIpv6);
  EXPECT_EQ(facts.parts.at(0).row.priority, 0);
  EXPECT_EQ(facts.parts.at(0).row.cool_down, std::chrono::seconds(0));
}

TEST_F(RangeFactsTest, WithItsGateOffThereIsOneBand) {
  const registry::Gates no_ips{.static_ips = false};
  const registry::Gates no_ports{.static_ports = false};
  const std::string addresses = "{'range':'10.1.0.0/16','staticBand':9}";
  const std::string ports = "{'range':'30000-32767'}";
  EXPECT_EQ(StaticSize(OfAddresses(addresses, "a", no_ips)), base::U128{0});
  EXPECT_EQ(StaticSize(OfAddresses(addresses, "a", no_ports)), base::U128{9});
  EXPECT_EQ(StaticSize(OfPorts(ports, "a", no_ports)), base::U128{0});
  EXPECT_EQ(StaticSize(OfPorts(ports, "a", no_ips)), base::U128{86});
  const RangeFacts cidr =
      Of(api::kServiceCidrKind, "'spec':{'cidrs':['10.1.0.0/16']}", "a", no_ips);
  EXPECT_EQ(StaticSize(cidr), base::U128{0});
}

TEST_F(RangeFactsTest, ThoseOfTheBeginningComeFirst) {
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  const std::string range = "{'range':'10.1.0.0/16'}";
  EXPECT_EQ(OfAddresses(range, "allocator.ipv4.k8s.io").parts.at(0).row.priority, kHighest);
  EXPECT_EQ(OfAddresses("{'range':'fd00::/64'}", "allocator.ipv6.k8s.io").parts.at(0).row.priority,
            kHighest);
  EXPECT_EQ(OfPorts("{'range':'80'}", "allocator.nodeport.k8s.io").parts.at(0).row.priority,
            kHighest);
  EXPECT_EQ(OfAddresses("{'range':'10.1.0.0/16','priority':0}", "allocator.ipv4.k8s.io")
                .parts.at(0)
                .row.priority,
            0)
      << "unless it is said";
}

TEST_F(RangeFactsTest, NothingIsTakenFromWhatIsDisabledOrGoing) {
  EXPECT_FALSE(OfAddresses("{'range':'10.1.0.0/16','disabled':true}").parts.at(0).row.open);
  EXPECT_FALSE(OfPorts("{'range':'80','disabled':true}").parts.at(0).row.open);
  const RangeFacts going = RangeFactsOf(
      *kinds_.FindRow(api::kIpRangeKind),
      Json("{'metadata':{'name':'a','deletionTimestamp':'2026-11-15T04:35:00Z'},'spec':{'range':"
           "'10.1.0.0/16'}}"),
      {});
  ASSERT_THAT(going.parts, SizeIs(1)) << "it still covers what it has";
  EXPECT_FALSE(going.parts[0].row.open);
}

TEST_F(RangeFactsTest, APortRange) {
  const RangeFacts facts = OfPorts("{'range':'80','excluded':['90-99'],'primary':true}");
  EXPECT_EQ(facts.kind, RangeKind::kNodePortRange);
  EXPECT_FALSE(facts.primary);
  ASSERT_THAT(facts.parts, SizeIs(1));
  EXPECT_EQ(facts.parts[0].pool, PoolId::kPorts);
  EXPECT_EQ(facts.parts[0].row.text, "80");
  EXPECT_EQ(facts.parts[0].row.layout.Usable(), base::U128{1});
}

TEST_F(RangeFactsTest, AServiceCidrHasAPartForEachFamily) {
  const RangeFacts facts =
      Of(api::kServiceCidrKind, "'spec':{'cidrs':['2001:db8::/64','10.1.0.0/16']}");
  EXPECT_EQ(facts.kind, RangeKind::kServiceCidr);
  ASSERT_THAT(facts.parts, SizeIs(2));
  EXPECT_EQ(facts.parts[0].pool, PoolId::kIpv6);
  EXPECT_EQ(facts.parts[1].pool, PoolId::kIpv4);
  EXPECT_EQ(facts.parts[1].row.text, "10.1.0.0/16");
  EXPECT_EQ(facts.parts[1].row.priority, 0);
  EXPECT_TRUE(facts.parts[1].row.open);
}

TEST_F(RangeFactsTest, AServiceCidrIsOpenUnlessItSaysThatItIsNotReady) {
  const auto open = [this](const std::string& conditions) {
    return Of(api::kServiceCidrKind,
              "'spec':{'cidrs':['10.1.0.0/16']},'status':{'conditions':[" + conditions + "]}")
        .parts.at(0)
        .row.open;
  };
  EXPECT_TRUE(open(""));
  EXPECT_TRUE(open("{'type':'Other','status':'False'}"));
  EXPECT_TRUE(open("{'type':'Ready','status':'True'}"));
  EXPECT_FALSE(open("{'type':'Ready','status':'False'}"));
  EXPECT_FALSE(open("{'type':'Ready','status':'Unknown'}"));
  const RangeFacts going = RangeFactsOf(
      *kinds_.FindRow(api::kServiceCidrKind),
      Json("{'metadata':{'name':'a','deletionTimestamp':'2026-11-15T04:35:00Z'},'spec':{'cidrs':"
           "['10.1.0.0/16']}}"),
      {});
  EXPECT_FALSE(going.parts.at(0).row.open);
}

TEST_F(RangeFactsTest, WhatCannotBeReadIsNoRange) {
  EXPECT_THAT(OfAddresses("{'range':'x'}").parts, IsEmpty());
  EXPECT_THAT(OfPorts("{'range':'9-1'}").parts, IsEmpty());
  EXPECT_THAT(Of(api::kServiceCidrKind, "'spec':{'cidrs':['x','10.1.0.0/16']}").parts, SizeIs(1));
  // The band is wrong, but the values are not.
  const RangeFacts facts = OfAddresses("{'range':'10.1.0.0/28','staticBand':1000}");
  ASSERT_THAT(facts.parts, SizeIs(1));
  EXPECT_EQ(facts.parts[0].row.layout.Usable(), base::U128{14});
}

TEST(StaticBand, MustFit) {
  const auto errors = [](const std::string& spec) {
    return rules::ValidateStaticBand(Json("{'spec':" + spec + "}")).Message();
  };
  EXPECT_TRUE(rules::ValidateStaticBand(Json("{'spec':{'range':'10.1.0.0/28'}}")).empty());
  EXPECT_TRUE(
      rules::ValidateStaticBand(Json("{'spec':{'range':'10.1.0.0/28','staticBand':14}}")).empty());
  EXPECT_EQ(
      errors("{'range':'10.1.0.0/28','staticBand':15}"),
      "spec.staticBand: Invalid value: 15: a static band of 15 does not fit: the range has 14 "
      "usable values");
  EXPECT_TRUE(rules::ValidateStaticBand(Json("{'spec':{'range':'80','staticBand':1}}")).empty());
  EXPECT_EQ(errors("{'range':'80','staticBand':2}"),
            "spec.staticBand: Invalid value: 2: a static band of 2 does not fit: the range has 1 "
            "usable values");
}

}  // namespace
}  // namespace berth::allocation
