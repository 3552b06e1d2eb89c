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

}  // namespace
}  // namespace berth::cli
