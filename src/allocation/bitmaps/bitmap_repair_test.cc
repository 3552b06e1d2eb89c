#include "allocation/bitmaps/bitmap_repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "alloc/testing/alloc_kit.h"
#include "allocation/bitmaps/bitmap_change.h"

namespace berth::allocation {
namespace {

using alloc::Value;
using std::string_literals::operator""s;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- ports ---------------------------------------------------------------------------------------

const ip::PortRange kPorts(30000, 32767);

RangeAllocation PortBitmap(const std::vector<U128>& ports,
                           const std::string& range = "30000-32767") {
  RangeAllocation bitmap{.range = range, .data = ""};
  EXPECT_FALSE(MakeChange(BitmapLayout::Of(ip::ParsePortRange(range).value()), {.takes = ports},
                          bitmap.data));
  return bitmap;
}

/// "repair shop/web PortNotAllocated PortAllocation: ..."
std::string Text(const Finding& finding) {
  return std::string(TypeOf(finding.kind)) + " " + finding.owner + " " + finding.reason + " " +
         finding.action + ": " + finding.note;
}
std::vector<std::string> Texts(const std::vector<Finding>& findings) {
  std::vector<std::string> texts;
  texts.reserve(findings.size());
  for (const Finding& finding : findings) texts.push_back(Text(finding));
  return texts;
}

TEST(PortRepairTest, WhatIsWellStaysAsItIs) {
  const RangeAllocation stored = PortBitmap({30000, 30100});
  const auto repaired =
      RepairPorts(kPorts, stored, std::vector<PortHolding>{{30100, "a"}, {30000, "b"}}, {});
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->ports.bitmap, stored);
  EXPECT_THAT(repaired->findings, IsEmpty());
  EXPECT_THAT(repaired->ports.leaks, IsEmpty());
}

TEST(PortRepairTest, SaysWhatIsWrongInKubernetesWords) {
  const auto repaired =
      RepairPorts(kPorts, PortBitmap({30000}),
                  std::vector<PortHolding>{
                      {30000, "shop/a"}, {30001, "shop/b"}, {30001, "shop/c"}, {80, "shop/d"}},
                  {});
  ASSERT_TRUE(repaired);
  EXPECT_THAT(
      Texts(repaired->findings),
      ElementsAre(
          "repair shop/b PortNotAllocated PortAllocation: Port 30001 is not allocated; repairing"));
  EXPECT_EQ(repaired->ports.bitmap, PortBitmap({30000, 30001}));
}

TEST(PortRepairTest, ABitmapThatIsGoneComesBackWithTheSameBytes) {
  const std::vector<PortHolding> holdings = {{30005, "a"}, {31000, "b"}};
  const auto repaired = RepairPorts(kPorts, std::nullopt, holdings, {});
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->ports.bitmap, PortBitmap({30005, 31000}));
  EXPECT_EQ(repaired->findings.size(), 2U);
  const auto empty = RepairPorts(kPorts, RangeAllocation{}, {}, {});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->ports.bitmap, (RangeAllocation{.range = "30000-32767", .data = ""}));
}

TEST(PortRepairTest, ALeakIsDroppedInTheThirdPassInARow) {
  RangeAllocation stored = PortBitmap({30000, 30007});
  const std::vector<PortHolding> holdings = {{30000, "a"}};
  Leaks leaks;
  for (int pass = 1; pass <= 2; ++pass) {
    const auto repaired = RepairPorts(kPorts, stored, holdings, leaks);
    ASSERT_TRUE(repaired);
    EXPECT_EQ(repaired->ports.bitmap, stored) << pass;
    EXPECT_THAT(repaired->findings, IsEmpty());
    leaks = repaired->ports.leaks;
    EXPECT_THAT(leaks, ElementsAre(std::pair(U128{30007}, pass)));
  }
  const auto third = RepairPorts(kPorts, stored, holdings, leaks);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->ports.bitmap, PortBitmap({30000}));
  EXPECT_THAT(third->findings, ElementsAre(Finding{.kind = Finding::Kind::kLeak}));
  EXPECT_THAT(third->ports.leaks, IsEmpty()) << "if it leaks again it is kept as long again";
}

TEST(PortRepairTest, UseEndsTheCountOfALeak) {
  const RangeAllocation stored = PortBitmap({30007});
  const auto used =
      RepairPorts(kPorts, stored, std::vector<PortHolding>{{30007, "a"}}, {{U128{30007}, 2}});
  ASSERT_TRUE(used);
  EXPECT_THAT(used->ports.leaks, IsEmpty());
  const auto after = RepairPorts(kPorts, stored, {}, used->ports.leaks);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->ports.bitmap, stored);
  // A leak whose bit is no longer set is forgotten too.
  const auto gone = RepairPorts(kPorts, PortBitmap({}), {}, {{U128{30007}, 2}});
  ASSERT_TRUE(gone);
  EXPECT_THAT(gone->ports.leaks, IsEmpty());
}

TEST(PortRepairTest, AnotherRangeIsTakenOverAsFarAsItFits) {
  const auto repaired = RepairPorts(kPorts, PortBitmap({29999, 30001, 30002}, "29000-31000"),
                                    std::vector<PortHolding>{{30001, "a"}}, {});
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->ports.bitmap, PortBitmap({30001, 30002}));
  EXPECT_THAT(repaired->findings, IsEmpty());
  EXPECT_EQ(repaired->ports.leaks.size(), 1U);
  const auto unreadable = RepairPorts(kPorts, RangeAllocation{.range = "x", .data = ""}, {}, {});
  ASSERT_FALSE(unreadable);
  EXPECT_THAT(unreadable.error().message,
              ::testing::StartsWith("unable to rebuild allocator from snapshot: "));
}

TEST(PortRepairTest, BitsBeyondTheRangeAreDropped) {
  const auto repaired = RepairPorts(ip::PortRange(100, 103),
                                    RangeAllocation{.range = "100-103", .data = "\xf0"s}, {}, {});
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->ports.bitmap.data, "");
}

// --- addresses -----------------------------------------------------------------------------------

AddressBitmap Range(const std::string& cidr, const std::vector<U128>& stored, Leaks leaks = {}) {
  const ip::Cidr range = ip::ParseCidr(cidr).value();
  RangeAllocation bitmap{.range = cidr, .data = ""};
  EXPECT_FALSE(MakeChange(BitmapLayout::Of(range), {.takes = stored}, bitmap.data));
  return {.range = range, .stored = bitmap, .leaks = std::move(leaks)};
}

TEST(AddressRepairTest, SaysWhatIsWrongInKubernetesWords) {
  const std::vector<AddressBitmap> ranges = {Range("10.0.0.0/24", {Value("10.0.0.1")}),
                                             Range("fd00::/112", {Value("fd00::1")})};
  const std::vector<AddressHolding> holdings = {
      {"10.0.0.1", "a"}, {"fd00::1", "a"}, {"fd00::2", "b"},   {"10.0.0.1", "c"},
      {"10.1.0.1", "d"}, {"x", "e"},       {"10.0.0.255", "f"}};
  const auto repaired = RepairAddresses(ranges, holdings);
  ASSERT_TRUE(repaired);
  EXPECT_THAT(
      Texts(repaired->findings),
      ElementsAre(
          "repair b ClusterIPNotAllocated ClusterIPAllocation: Cluster IP [IPv6]:fd00::2 is not "
          "allocated; repairing",
          "invalid e ClusterIPNotValid ClusterIPValidation: Cluster IP <nil> is not a valid IP; "
          "please recreate service"));
  EXPECT_EQ(repaired->ranges[0].bitmap, *ranges[0].stored);
  EXPECT_EQ(repaired->ranges[1].bitmap,
            *Range("fd00::/112", {Value("fd00::1"), Value("fd00::2")}).stored);
}

TEST(AddressRepairTest, AFamilyWithoutARangeIsSaid) {
  const std::vector<AddressBitmap> ranges = {Range("10.0.0.0/24", {})};
  const auto repaired = RepairAddresses(ranges, std::vector<AddressHolding>{{"fd00::1", "a"}});
  ASSERT_TRUE(repaired);
  EXPECT_THAT(Texts(repaired->findings),
              ElementsAre("invalid a ClusterIPNotValid ClusterIPValidation: Cluster IP "
                          "fd00::1(IPv6) is of ip family that is no longer configured on cluster; "
                          "please recreate service"));
}

TEST(AddressRepairTest, LeaksAreCountedForEachFamily) {
  const std::vector<AddressBitmap> ranges = {
      Range("10.0.0.0/24", {Value("10.0.0.1")}, {{Value("10.0.0.1"), 2}}),
      Range("fd00::/112", {Value("fd00::1")}, {{Value("fd00::1"), 1}})};
  const auto repaired = RepairAddresses(ranges, {});
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->ranges[0].bitmap.data, "");
  EXPECT_EQ(repaired->ranges[1].bitmap, *ranges[1].stored);
  EXPECT_THAT(repaired->findings, ElementsAre(Finding{.kind = Finding::Kind::kLeak}));
  EXPECT_THAT(repaired->ranges[1].leaks, ElementsAre(std::pair(Value("fd00::1"), 2)));
}

}  // namespace
}  // namespace berth::allocation
