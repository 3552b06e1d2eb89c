#include "berth/verify/look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::cli {
namespace {

using audit::Finding;
using audit::FindingKind;

Finding WrongCountOf(const std::string& range, int64_t revision) {
  return {.kind = FindingKind::kWrongCount,
          .object = audit::ObjectRef{.resource = "ipranges", .name = range, .revision = revision},
          .message = "The status of " + range,
          .may_settle = true};
}

Look LookWith(std::vector<Finding> findings) {
  Look look;
  for (const Finding& finding : findings) ++look.report.counts[static_cast<size_t>(finding.kind)];
  look.report.findings = std::move(findings);
  return look;
}

std::vector<std::string> Messages(const std::vector<Finding>& findings) {
  std::vector<std::string> messages;
  for (const Finding& finding : findings) messages.push_back(finding.message);
  return messages;
}

TEST(LookTest, ASecondLookIsForWhatMayPass) {
  EXPECT_FALSE(NeedsSecondLook(LookWith({})));
  EXPECT_FALSE(NeedsSecondLook(LookWith({{.kind = FindingKind::kOrphan}})));
  EXPECT_TRUE(NeedsSecondLook(LookWith({WrongCountOf("a", 5)})));
}

TEST(LookTest, CountsAtRestMayBeBehindLaterWrites) {
  Look look = LookWith({{.kind = FindingKind::kOrphan, .message = "orphan"},
                        WrongCountOf("written-before", 6),
                        WrongCountOf("written-last", 8)});
  look.newest_write = 7;
  SettleAtRest(look);
  EXPECT_THAT(Messages(look.report.findings),
              testing::ElementsAre("orphan", "The status of written-last"));
  EXPECT_THAT(Messages(look.settling), testing::ElementsAre("The status of written-before"));
  EXPECT_EQ(look.report.counts[static_cast<size_t>(FindingKind::kWrongCount)], 1U);
  EXPECT_EQ(look.report.counts[static_cast<size_t>(FindingKind::kOrphan)], 1U);
}

TEST(LookTest, TwoOwnersAtRestDoNotPass) {
  Look look = LookWith({{.kind = FindingKind::kTwoOwners, .message = "two", .may_settle = true},
                        {.kind = FindingKind::kNoRecord, .message = "none", .may_settle = true}});
  SettleAtRest(look);
  EXPECT_THAT(Messages(look.report.findings), testing::ElementsAre("two"));
  EXPECT_THAT(Messages(look.settling), testing::ElementsAre("none"));
}

TEST(LookTest, OnlyCountsThatMayPassMakeACleanReport) {
  Look look = LookWith({WrongCountOf("a", 6)});
  look.newest_write = 7;
  SettleAtRest(look);
  EXPECT_TRUE(look.report.IsClean());
}

TEST(LookTest, CountsThatWereWrittenInBetweenAreNotAFault) {
  const Look earlier = LookWith({WrongCountOf("stuck", 5), WrongCountOf("busy", 6)});
  Look look = LookWith({WrongCountOf("stuck", 5), WrongCountOf("busy", 9), WrongCountOf("new", 3)});
  SettleRunning(look, earlier);
  EXPECT_THAT(Messages(look.report.findings), testing::ElementsAre("The status of stuck"));
  EXPECT_THAT(Messages(look.settling),
              testing::ElementsAre("The status of busy", "The status of new"));
}

TEST(LookTest, WhatCannotPassIsReportedWhateverTheFirstLookFound) {
  Look look = LookWith({{.kind = FindingKind::kNoRecord, .message = "no record"}});
  SettleRunning(look, LookWith({}));
  EXPECT_THAT(Messages(look.report.findings), testing::ElementsAre("no record"));
  EXPECT_FALSE(look.report.IsClean());
}

TEST(LookTest, FindingsThatAreNotListedPassWithTheOthers) {
  Look look = LookWith({WrongCountOf("a", 6)});
  look.report.counts[static_cast<size_t>(FindingKind::kWrongCount)] = 1500;
  look.newest_write = 7;
  SettleAtRest(look);
  EXPECT_TRUE(look.report.IsClean());
}

TEST(WatchedLooksTest, AFindingCountsOnceALookSomeSecondsBeforeHasItToo) {
  WatchedLooks looks;
  const base::SteadyTime start{};
  const Finding stuck{.kind = FindingKind::kNoRecord, .message = "stuck"};
  const Finding passing{.kind = FindingKind::kOutOfRange, .message = "passing"};
  const auto next = [&](int seconds, std::vector<Finding> findings) {
    return looks.Next(LookWith(std::move(findings)), start + std::chrono::seconds(seconds));
  };
  Look look = next(0, {stuck, passing});
  EXPECT_TRUE(look.report.IsClean());
  EXPECT_THAT(Messages(look.settling), testing::ElementsAre("stuck", "passing"));
  // A second later it is still early, however often the cluster changes.
  EXPECT_TRUE(next(1, {stuck}).report.IsClean());
  EXPECT_TRUE(next(2, {stuck}).report.IsClean());
  look = next(3, {stuck, passing});
  EXPECT_THAT(Messages(look.report.findings), testing::ElementsAre("stuck", "passing"));
  EXPECT_FALSE(look.report.IsClean());
  // It stays from then on, and what is new has to wait.
  look = next(4, {stuck, WrongCountOf("a", 5)});
  EXPECT_THAT(Messages(look.report.findings), testing::ElementsAre("stuck"));
  EXPECT_THAT(Messages(look.settling), testing::ElementsAre("The status of a"));
  EXPECT_TRUE(next(5, {}).report.IsClean());
}

}  // namespace
}  // namespace berth::cli
