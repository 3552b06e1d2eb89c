#include "inspect/running_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "inspect/checks.h"
#include "inspect/finding_groups.h"
#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Kinds(const std::vector<RunningFinding>& found) {
  std::vector<std::string> out;
  for (const RunningFinding& each : found)
    out.push_back(fmt::format("{} {}", each.kind, each.count));
  return out;
}

TEST(RunningChecksTest, WhatAClientNamedWhereOthersArePicked) {
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Add({.name = "named", .values = {"10.0.0.99"}, .origin = Origin::kNamed})
      .Add({.name = "drawn", .values = {"10.0.0.100"}, .origin = Origin::kDrawn})
      .Add({.name = "good", .values = {"10.0.0.5"}, .origin = Origin::kNamed})
      .Add({.name = "unknown", .values = {"10.0.0.101"}});
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const auto found = CheckRunning(census);
  ASSERT_THAT(Kinds(found), ElementsAre("NamedInDynamicBand 1"));
  const RunningItem& item = found.front().items.front();
  EXPECT_EQ(item.message,
            "clusterIP 10.0.0.99 of Service shop/named is in the dynamic band "
            "10.0.0.17-10.0.0.254 of the addresses 10.0.0.0/24");
  EXPECT_THAT(item.advice, HasSubstr("is free and in the static band."));
  EXPECT_EQ(item.service->object.name, "named");
}

TEST(RunningChecksTest, ValuesOfTheStaticBandThatWerePicked) {
  SmallCluster small;
  small.Range("10.96.0.0/24").Row(10, 12, Origin::kDrawn);
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const auto found = CheckRunning(census);
  ASSERT_THAT(Kinds(found), ElementsAre("Spill 3"));
  EXPECT_EQ(found.front().severity, Severity::kNote) << "The dynamic band has room";
  SmallCluster full;
  full.Range("10.96.0.0/24").Row(10, 254, Origin::kDrawn);
  const Cluster full_cluster = full.Finish();
  const Census full_census(full_cluster);
  EXPECT_EQ(CheckRunning(full_census).front().severity, Severity::kWarning);
}

TEST(RunningChecksTest, NodePortsThatTheNodesUse) {
  SmallCluster small;
  small.Range("10000-40000")
      .Add({.name = "kubelet", .values = {"10250"}})
      .Add({.name = "outgoing", .values = {"35000"}})
      .Add({.name = "fine", .values = {"30080"}});
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const auto found = CheckRunning(census);
  ASSERT_THAT(Kinds(found), ElementsAre("HostPort 1", "EphemeralRange 1"));
  EXPECT_THAT(found[0].items.front().message, HasSubstr("nodePort 10250 of Service shop/kubelet"));
  EXPECT_EQ(found[0].severity, Severity::kCritical);
}

TEST(RunningChecksTest, AHealthCheckPortOfTwoServices) {
  SmallCluster small;
  small.Range("30000-32767")
      .Add({.name = "a", .values = {"30080"}})
      .Add({.name = "b", .values = {"30080"}});
  small.view().services[1].holds[0].health_check = true;
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const auto found = CheckRunning(census);
  ASSERT_THAT(Kinds(found), ElementsAre("HealthCheckPort 1"));
  EXPECT_EQ(found.front().items.front().message,
            "healthCheckNodePort 30080 of Service shop/b is also nodePort 30080 of Service shop/a");
}

TEST(RunningChecksTest, AnAssumedRangeProvesNothing) {
  SmallCluster small;
  small.Add({.name = "named", .values = {"10.0.0.99"}, .origin = Origin::kNamed});
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  EXPECT_THAT(CheckRunning(census), IsEmpty());
}

TEST(RunningChecksTest, ManyFindingsAreCounted) {
  SmallCluster small;
  small.Range("10.96.0.0/24").Row(20, 254, Origin::kNamed);
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const auto found = CheckRunning(census);
  ASSERT_THAT(Kinds(found), ElementsAre("NamedInDynamicBand 235"));
  EXPECT_EQ(found.front().items.size(), kMostRunningItems);
}

TEST(FindingGroupsTest, TheWorstComesFirst) {
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Add({.name = "a", .values = {"10.0.0.99"}, .origin = Origin::kNamed})
      .Add({.name = "b", .values = {"10.0.0.99"}})
      .Add({.name = "far", .values = {"10.9.0.1"}});
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const auto groups = GroupFindings(census, CheckCluster(cluster), CheckRunning(census));
  std::vector<std::string_view> kinds;
  for (const FindingGroup& group : groups) kinds.push_back(group.kind);
  EXPECT_THAT(kinds, ElementsAre("TwoOwners", "OutOfRange", "NamedInDynamicBand"));
  EXPECT_EQ(groups[0].title, "Two Services have the same address or port");
  EXPECT_EQ(groups[0].items.front().service, "shop/a");
  EXPECT_EQ(groups[0].items.front().range->row->text, "10.0.0.0/24");
  EXPECT_THAT(groups[0].why, HasSubstr("It may pass by itself"));
  EXPECT_FALSE(groups[1].items.front().range.has_value());
}

}  // namespace
}  // namespace berth::inspect
