#include "inspect/top.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

using rules::RecordState;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Returns "critical Full: message" for everything that needs attention, without notes.
std::vector<std::string> Attentions(SmallCluster& builder) {
  const Cluster cluster = builder.Finish();
  const Census census(cluster);
  std::vector<std::string> lines;
  for (const Attention& each : MakeTop(census, {}).attention) {
    if (each.severity == Severity::kNote) continue;
    lines.push_back(std::string(NameOf(each.severity)) + " " + std::string(NameOf(each.kind)) +
                    ": " + each.message);
  }
  return lines;
}

TEST(TopTest, AHealthyClusterNeedsNothing) {
  EXPECT_THAT(Attentions(SmallCluster().Range("10.96.0.0/24").Row(1, 3, Origin::kNamed)),
              IsEmpty());
}

TEST(TopTest, AFullRangeIsCritical) {
  EXPECT_THAT(
      Attentions(SmallCluster().Range("10.96.0.0/28").Row(1, 14)),
      ElementsAre("critical Full: 10.96.0.0/28 is full: Services hold 14 of its 14 values"));
}

/// The story that users filed.
TEST(TopTest, ARangeThatIsFullAlthoughItLooksEmptySaysWhy) {
  SmallCluster builder;
  builder.Range("10.96.0.0/28").Row(1, 3);
  for (int i = 1; i <= 14; ++i) {
    const RecordState state = i < 9 ? RecordState::kAllocated : RecordState::kReserved;
    builder.Record("10.96.0." + std::to_string(i), state, i < 9 ? "gone/x" : "");
  }
  EXPECT_THAT(
      Attentions(builder),
      ElementsAre("critical Full: 10.96.0.0/28 is full although Services hold only 3 of its "
                  "14 values; 6 are reserved and 5 have a record but no Service"));
}

TEST(TopTest, ExcludedValuesAreNamedAsTheCause) {
  EXPECT_THAT(
      Attentions(SmallCluster()
                     .IpRange(R"({"range":"10.96.0.0/28",
                                             "excluded":["10.96.0.4/30","10.96.0.8/29"]})")
                     .Row(1, 3)),
      ElementsAre("critical Full: 10.96.0.0/28 is full although Services hold only 3 of its "
                  "14 values; 11 are excluded"));
}

TEST(TopTest, AStrictRangeWithAFullDynamicBandGivesNothingOut) {
  EXPECT_THAT(Attentions(SmallCluster()
                             .IpRange(R"({"range":"10.96.0.0/28","staticBand":10,"strict":true})")
                             .Row(11, 14)),
              ElementsAre(AllOf(
                  HasSubstr("critical DynamicBandFull: 10.96.0.0/28 looks as if 10 values are "
                            "free"),
                  HasSubstr("the range is strict"))));
}

TEST(TopTest, AFullDynamicBandEatsTheStaticBand) {
  EXPECT_THAT(
      Attentions(SmallCluster().Range("10.96.0.0/27").Row(16, 30, Origin::kDrawn)),
      ElementsAre("critical DynamicBandFull: the dynamic band of 10.96.0.0/27 is full: "
                  "requests for any value now take the static band, where 15 values are free",
                  "warning Spill: 1 value of the static band of 10.96.0.0/27 was drawn by "
                  "requests for any value"));
}

TEST(TopTest, AnotherRangeThatServesMakesItLessBad) {
  EXPECT_THAT(Attentions(SmallCluster().Range("10.96.0.0/28").Range("10.97.0.0/24").Row(1, 14)),
              ElementsAre(HasSubstr("warning Full: 10.96.0.0/28")));
}

TEST(TopTest, NearlyFullHasTwoSteps) {
  // The dynamic band of a /24 has 238 values, from 17 on.
  EXPECT_THAT(Attentions(SmallCluster().Range("10.96.0.0/24").Row(17, 206)), IsEmpty());
  EXPECT_THAT(Attentions(SmallCluster().Range("10.96.0.0/24").Row(17, 216)),
              ElementsAre("warning NearlyFull: the dynamic band of 10.96.0.0/24 is 84.0% full: 38 "
                          "values are free"));
  EXPECT_THAT(Attentions(SmallCluster().Range("10.96.0.0/24").Row(17, 253)),
              ElementsAre("critical NearlyFull: the dynamic band of 10.96.0.0/24 is 99.6% full: 1 "
                          "value is free"));
}

TEST(TopTest, FullSoonIsSaidInDays) {
  SmallCluster builder;
  builder.Range("10.96.0.0/24");
  builder.Add({.name = "kubernetes", .values = {"10.96.0.1"}, .created = "2026-01-01T00:00:00Z"});
  for (int i = 0; i < 140; ++i) {  // Five a day for 28 days.
    const std::string day = std::to_string(18 - i / 5 + (i / 5 < 18 ? 0 : 31));
    builder.Add({.name = "s" + std::to_string(i),
                 .values = {"10.96.0." + std::to_string(20 + i)},
                 .created = std::string(i / 5 < 18 ? "2026-11-" : "2026-10-") +
                            (day.size() < 2 ? "0" : "") + day + "T11:00:00Z"});
  }
  EXPECT_THAT(Attentions(builder),
              ElementsAre("warning FullSoon: the dynamic band of 10.96.0.0/24 is full in about 20 "
                          "days (at the earliest 17) at the rate of the last 28 days"));
}

TEST(TopTest, ValuesUsedTwiceAndOutsideAreNamed) {
  SmallCluster builder;
  builder.Range("10.96.0.0/24");
  for (const char* name : {"a", "b", "c"}) builder.Add({.name = name, .values = {"10.96.0.10"}});
  builder.Add({.name = "far", .values = {"10.97.0.1"}});
  EXPECT_THAT(Attentions(builder),
              ElementsAre("critical UsedTwice: 1 value of 10.96.0.0/24 is held by two Services or "
                          "more: 10.96.0.10 by shop/a and shop/b",
                          "warning OutsideRanges: 1 IPv4 address of Services is in no range: "
                          "10.97.0.1 of shop/far"));
}

TEST(TopTest, AYoungRecordWithoutAServiceIsNoOrphanYet) {
  const auto attentions = [](const char* since, ServerKind server) {
    SmallCluster builder;
    builder.Range("10.96.0.0/24")
        .Add({.name = "a", .values = {"10.96.0.10"}})
        .Record("10.96.0.20", rules::RecordState::kAllocated, "shop/gone");
    builder.view().records.back().since = SmallCluster::At(since);
    builder.view().server = server;
    return Attentions(builder).size();
  };
  EXPECT_EQ(attentions("2026-11-18T11:59:30Z", ServerKind::kKubernetes), 0U);
  EXPECT_EQ(attentions("2026-11-18T11:58:00Z", ServerKind::kKubernetes), 1U);
  // Berth writes both at once.
  EXPECT_EQ(attentions("2026-11-18T11:59:30Z", ServerKind::kBerth), 1U);
}

TEST(TopTest, WhatHasAYoungRecordIsNotHeldByAService) {
  SmallCluster builder;
  builder.Range("10.96.0.0/28").Row(1, 3);
  for (int i = 4; i <= 14; ++i) {
    const bool taken = i < 8;
    builder.Record("10.96.0." + std::to_string(i),
                   taken ? RecordState::kAllocated : RecordState::kReserved, taken ? "gone/x" : "");
    builder.view().records.back().since =
        SmallCluster::At(i == 4 ? "2026-11-18T11:50:00Z" : "2026-11-18T11:59:30Z");
  }
  builder.view().server = ServerKind::kKubernetes;
  EXPECT_THAT(Attentions(builder),
              ElementsAre("critical Full: 10.96.0.0/28 is full although Services hold only 3 of "
                          "its 14 values; 7 are reserved, 1 has a record but no Service and 3 have "
                          "new records but no Services yet"));
}

TEST(TopTest, RangesOfOneCidrAreToldApart) {
  ClusterReader reader({.source = "test"});
  for (const char* name : {"kubernetes", "new"}) {
    codec::Value range;
    codec::SetAt(range, {"metadata", "name"}, name);
    codec::SetAt(range, {"spec", "cidrs"}, codec::Array{codec::Value("10.96.0.0/28")});
    reader.AddRange(alloc::RangeKind::kServiceCidr, range);
  }
  const Cluster cluster = std::move(reader).Finish();
  const Census census(cluster);
  std::vector<std::string> labels;
  for (const TopRange& range : MakeTop(census, {}).ranges) labels.push_back(range.label);
  EXPECT_THAT(labels,
              ElementsAre("10.96.0.0/28 (kubernetes)", "10.96.0.0/28 (new)", "30000-32767"));
}

TEST(TopTest, AnAssumedRangeOfAddressesRaisesNoAlarm) {
  const Cluster cluster = SmallCluster().Row(1, 254).Finish();
  const Census census(cluster);
  const TopView view = MakeTop(census, {});
  ASSERT_EQ(view.attention.size(), 2U);
  EXPECT_EQ(view.attention[0].kind, AttentionKind::kAssumedRange);
  EXPECT_EQ(view.attention[0].severity, Severity::kNote);
  EXPECT_THAT(view.attention[0].message, HasSubstr("10.96.0.0/24 is assumed"));
}

TEST(TopTest, ADrawnPortSpeaksAgainstAnAssumedRange) {
  const Cluster cluster =
      SmallCluster().Add({.values = {"30010"}, .origin = Origin::kDrawn}).Finish();
  const Census census(cluster);
  const TopView view = MakeTop(census, {});
  ASSERT_EQ(view.attention.size(), 2U);
  EXPECT_EQ(view.attention[1].kind, AttentionKind::kSpill);
  EXPECT_THAT(view.attention[1].message, HasSubstr("so the range may be another one"));
}

TEST(TopTest, TheAdviceIsWhatTheServerCanDo) {
  const auto advice = [](SmallCluster& builder) {
    const Cluster cluster = builder.Finish();
    const Census census(cluster);
    std::string all;
    for (const Attention& each : MakeTop(census, {}).attention) all += each.advice + "\n";
    return all;
  };
  EXPECT_THAT(advice(SmallCluster().Range("10.96.0.0/24").Row(17, 253)),
              HasSubstr("add a ServiceCIDR; berth forecast"));
  EXPECT_THAT(advice(SmallCluster().IpRange(R"({"range":"10.96.0.0/24"})").Row(17, 253)),
              HasSubstr("add a range or give this one more values"));
  SmallCluster ports;
  ports.Range("30000-30003").Add({.values = {"30000", "30001", "30002", "30003", "31000"}});
  EXPECT_THAT(advice(ports),
              AllOf(HasSubstr("start the API servers with a larger --service-node-port-range"),
                    HasSubstr("other node ports")));
}

TEST(TopTest, AdviceAboutFilesIsNotGivenAboutAServer) {
  const auto advice = [](ServerKind server) {
    Cluster cluster = SmallCluster().Row(1, 3).Finish();
    cluster.server = server;
    const Census census(cluster);
    std::string all;
    for (const Gap& gap : MakeTop(census, {}).gaps) all += gap.advice;
    return all;
  };
  EXPECT_THAT(advice(ServerKind::kUnknown), HasSubstr("--show-managed-fields"));
  EXPECT_EQ(advice(ServerKind::kKubernetes), "");
}

TEST(TopTest, WhatNeedsAttentionComesFirst) {
  const Cluster cluster =
      SmallCluster()
          .Range("10.95.0.0/16")
          .Range("10.96.0.0/28")
          .Range("30000-30015")
          .Row(1, 14)
          .Add({.name = "web", .values = {"10.95.0.1", "30000"}, .type = "NodePort"})
          .Finish();
  const Census census(cluster);
  std::vector<std::string> texts;
  for (const TopRange& range : MakeTop(census, {}).ranges) texts.push_back(range.text());
  EXPECT_THAT(texts, ElementsAre("10.96.0.0/28", "10.95.0.0/16", "30000-30015"));
}

TEST(TopTest, HoldersAreOrderedByWhatTheyHold) {
  SmallCluster builder;
  builder.Range("10.96.0.0/24");
  for (int i = 0; i < 12; ++i) {
    TestService service{.name_space = "n" + std::to_string(10 + i),
                        .name = "s",
                        .values = {"10.96.0." + std::to_string(20 + i)}};
    if (i == 7) {
      service.type = "NodePort";
      service.values.emplace_back("30000");
    }
    builder.Add(service);
  }
  builder.Add({.name_space = "headless", .name = "none"});
  const Cluster cluster = builder.Finish();
  const Census census(cluster);
  const TopView view = MakeTop(census, {});
  EXPECT_EQ(view.namespaces, 12U);
  ASSERT_EQ(view.holders.size(), 10U);
  EXPECT_EQ(view.holders[0].name_space, "n17");
  EXPECT_EQ(view.holders[0].addresses, 1U);
  EXPECT_EQ(view.holders[0].ports, 1U);
  EXPECT_EQ(view.holders[1].name_space, "n10");
  EXPECT_THAT(view.types,
              ElementsAre(testing::Pair("ClusterIP", 12U), testing::Pair("NodePort", 1U)));
}

TEST(TopTest, AHistoryReplacesCreationTimes) {
  const Cluster cluster = SmallCluster().Range("10.96.0.0/24").Row(20, 30).Finish();
  const Census census(cluster);
  RangeHistory history;
  for (int day = 0; day <= 28; ++day) {
    const UsePoint point{.time = cluster.read_at - std::chrono::hours(24 * day),
                         .values = 100.0 - 3 * day};
    history.range.push_back(point);
    history.dynamic_band.push_back(point);
  }
  EXPECT_TRUE(IsEnough({.range = {history.range[1], history.range[0]}}));
  EXPECT_FALSE(IsEnough({.range = {history.range[0]}}));
  const TopView view =
      MakeTop(census, {.given_history = true, .history = {{"10.96.0.0/24", history}}});
  EXPECT_THAT(view.gaps.front().what, HasSubstr("30000-32767: The history has no two looks"));
  const TopRange& range = view.ranges.front();
  EXPECT_EQ(range.growth.basis, GrowthBasis::kHistory);
  EXPECT_DOUBLE_EQ(range.full.likely.value(), 243 / 3.0);
}

}  // namespace
}  // namespace berth::inspect
