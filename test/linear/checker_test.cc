// The checker itself, on histories written by hand: it accepts what a store may do, rejects what it
// may not do, and says why.
#include "linear/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "linear/script.h"

namespace berth::linear {
namespace {

using testing::HasSubstr;

constexpr CheckOptions kValuesOnly{.revisions = false};

void ExpectGood(Script& script) {
  const History history = script.Take();
  for (const CheckOptions& options : {CheckOptions{}, kValuesOnly}) {
    const CheckResult result = Check(history, options);
    EXPECT_EQ(result.verdict, Verdict::kLinearizable) << result.explanation;
    EXPECT_EQ(result.explanation, "");
  }
}

/// Expects a history that is wrong even if only values and compares are checked.
void ExpectBad(Script& script, const std::string& why) {
  const History history = script.Take();
  for (const CheckOptions& options : {CheckOptions{}, kValuesOnly}) {
    const CheckResult result = Check(history, options);
    EXPECT_EQ(result.verdict, Verdict::kViolation);
    EXPECT_THAT(result.explanation, HasSubstr(why)) << "revisions: " << options.revisions;
  }
}

/// Expects a history that is wrong because of revisions alone.
void ExpectBadRevisions(Script& script, const std::string& why) {
  const History history = script.Take();
  const CheckResult result = Check(history);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_THAT(result.explanation, HasSubstr(why));
  EXPECT_EQ(Check(history, kValuesOnly).verdict, Verdict::kLinearizable);
}

TEST(CheckerTest, AcceptsNothing) {
  Script script;
  ExpectGood(script);
}

TEST(CheckerTest, AcceptsASequence) {
  Script script;
  script.Do(0, Get("a"), Nothing());
  script.Do(0, Create("a", "1"), Committed({5}));
  script.Do(1, Get("a"), Found("a", "1", 5));
  script.Do(1, Update("a", 5, "2"), Committed({6}));
  script.Do(0, Update("a", 5, "3"), Conflicting({{0, Some("a", "2", 6)}}));
  script.Do(0, Scan(""), Page({*Some("a", "2", 6)}, 6));
  script.Do(1, Delete("a", 6), Committed({}, {7}));
  script.Do(1, Scan(""), Page({}, 7));
  script.Do(0, Delete("a"), Committed({}, {0}));
  script.Do(0, Create("a", "4"), Committed({9}));
  ExpectGood(script);
}

TEST(CheckerTest, AcceptsEitherOrderOfWhatOverlaps) {
  Script script;
  const size_t put = script.Call(0, Put("a", "1"));
  const size_t early = script.Call(1, Get("a"));
  const size_t late = script.Call(2, Get("a"));
  script.Return(early, Nothing());
  script.Return(late, Found("a", "1", 5));
  script.Return(put, Committed({5}));
  ExpectGood(script);
}

TEST(CheckerTest, AcceptsRepliesInAnotherOrderThanTheCommits) {
  Script script;
  const size_t first = script.Call(0, Create("a", "1"));
  const size_t second = script.Call(1, Put("a", "2"));
  script.Return(second, Committed({6}));
  script.Do(2, Get("a"), Found("a", "2", 6));
  script.Return(first, Committed({5}));
  ExpectGood(script);
}

TEST(CheckerTest, RejectsAStaleRead) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Put("a", "2"), Committed({6}));
  script.Do(1, Get("a"), Found("a", "1", 5));
  ExpectBad(script, "client 1: get a -> a=1@5");
}

TEST(CheckerTest, RejectsReadsThatGoBack) {
  Script script;
  const size_t put = script.Call(0, Put("a", "1"));
  script.Do(1, Get("a"), Found("a", "1", 5));
  script.Do(2, Get("a"), Nothing());
  script.Return(put, Committed({5}));
  ExpectBad(script, "client 2: get a -> nothing");
}

TEST(CheckerTest, RejectsAReadFromTheFuture) {
  Script script;
  script.Do(1, Get("a"), Found("a", "1", 5));
  script.Do(0, Put("a", "1"), Committed({5}));
  ExpectBad(script, "needs a = 1@5");
}

TEST(CheckerTest, RejectsALostUpdate) {
  Script script;
  script.Do(0, Create("a", "0"), Committed({5}));
  const size_t one = script.Call(0, Update("a", 5, "1"));
  const size_t two = script.Call(1, Update("a", 5, "2"));
  script.Return(one, Committed({6}));
  script.Return(two, Committed({7}));
  ExpectBad(script, "put a=2");
}

TEST(CheckerTest, RejectsTwoCreators) {
  Script script;
  const size_t one = script.Call(0, Create("a", "1"));
  const size_t two = script.Call(1, Create("a", "2"));
  script.Return(one, Committed({5}));
  script.Return(two, Committed({6}));
  ExpectBad(script, "needs a does not exist");
}

TEST(CheckerTest, RejectsAHalfAppliedTxnInAScan) {
  Script script;
  script.Do(0, Txn({}, {{"a", "1"}, {"b", "1"}}), Committed({5, 6}));
  const size_t swap = script.Call(0, Txn({}, {{"a", "2"}, {"b", "2"}}));
  script.Do(1, Scan(""), Page({*Some("a", "2", 7), *Some("b", "1", 6)}, 7));
  script.Return(swap, Committed({7, 8}));
  ExpectBad(script, "scan");
}

TEST(CheckerTest, RejectsAHalfAppliedTxnInTwoGets) {
  Script script;
  const size_t txn = script.Call(0, Txn({}, {{"a", "2"}, {"b", "2"}}));
  script.Do(1, Get("a"), Found("a", "2", 7));
  script.Do(1, Get("b"), Nothing());
  script.Return(txn, Committed({7, 8}));
  ExpectBad(script, "get b -> nothing");
}

TEST(CheckerTest, RejectsARevisionThatGoesBack) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({9}));
  script.Do(0, Put("b", "1"), Committed({8}));
  ExpectBadRevisions(script, "by its revisions another write comes first");
}

TEST(CheckerTest, RejectsRevisionsThatFallInsideATxn) {
  Script script;
  script.Do(0, Txn({}, {{"a", "1"}, {"b", "1"}}), Committed({6, 5}));
  ExpectBadRevisions(script, "do not rise");
}

TEST(CheckerTest, RejectsARevisionGivenTwice) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Put("b", "1"), Committed({5}));
  ExpectBadRevisions(script, "revision 5 of b = 1 was given before");
}

TEST(CheckerTest, RejectsARevisionGivenToAPutAndADelete) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Delete("a"), Committed({}, {5}));
  ExpectBadRevisions(script, "revision 5 of a delete was given before");
}

TEST(CheckerTest, RejectsAReadWithAnotherRevisionThanTheWriterGot) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Get("a"), Found("a", "1", 6));
  ExpectBadRevisions(script, "has two revisions, 5 and 6");
}

TEST(CheckerTest, RejectsAScanWhoseRevisionIsOfAnotherState) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Put("b", "1"), Committed({6}));
  script.Do(1, Scan(""), Page({*Some("a", "1", 5), *Some("b", "1", 6)}, 5));
  ExpectBadRevisions(script, "1 writes come before it, but 2 did");
}

TEST(CheckerTest, RejectsAConflictAlthoughTheCompareHeld) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Update("a", 5, "2"), Conflicting({{0, Some("a", "1", 5)}}));
  ExpectBad(script, "although the compare held");
}

TEST(CheckerTest, RejectsAConflictWithWhatIsNotThere) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Update("a", 5, "2"), Committed({6}));
  script.Do(0, Create("a", "3"), Conflicting({{0, Some("a", "1", 5)}}));
  ExpectBad(script, "conflict [a: a=1@5]");
}

TEST(CheckerTest, RejectsAConflictThatLeavesOutACompare) {
  Script script;
  script.Do(0, Txn({}, {{"a", "1"}, {"b", "1"}}), Committed({5, 6}));
  script.Do(0, Txn({{"a", 0}, {"b", 0}}, {{"a", "2"}}), Conflicting({{0, Some("a", "1", 5)}}));
  ExpectBad(script, "needs b does not exist");
}

TEST(CheckerTest, RejectsAConflictThatNamesNoCompare) {
  Script script;
  script.Do(0, Create("a", "1"), Conflicting({}));
  ExpectBad(script, "names no compare");
}

TEST(CheckerTest, RejectsAnAcknowledgedWriteThatIsLost) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(1, Get("a"), Nothing());
  ExpectBad(script, "get a -> nothing");
}

TEST(CheckerTest, RejectsARefusedWriteThatShowsUp) {
  Script script;
  script.Do(0, Put("a", "1"), Refused());
  script.Do(1, Get("a"), Found("a", "1", 5));
  ExpectBad(script, "although its transaction did not happen");
}

TEST(CheckerTest, RejectsAWriteThatConflictedAndShowsUp) {
  Script script;
  script.Do(0, Put("a", "0"), Committed({5}));
  script.Do(0, Create("a", "1"), Conflicting({{0, Some("a", "0", 5)}}));
  script.Do(1, Get("a"), Found("a", "1", 6));
  ExpectBad(script, "although its transaction did not happen");
}

TEST(CheckerTest, RejectsAValueNobodyWrote) {
  Script script;
  script.Do(1, Get("a"), Found("a", "1", 5));
  ExpectBad(script, "was never put");
}

TEST(CheckerTest, RejectsADeleteOfNothingThatHasARevision) {
  Script script;
  script.Do(0, Delete("a"), Committed({}, {5}));
  ExpectBad(script, "delete a");
}

TEST(CheckerTest, RejectsADeleteThatFoundNothing) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Delete("a"), Committed({}, {0}));
  ExpectBad(script, "delete a");
}

TEST(CheckerTest, RejectsAScanInDisorder) {
  Script script;
  script.Do(0, Txn({}, {{"a", "1"}, {"b", "1"}}), Committed({5, 6}));
  script.Do(1, Scan(""), Page({*Some("b", "1", 6), *Some("a", "1", 5)}, 6));
  ExpectBad(script, "not in order");
}

TEST(CheckerTest, RejectsAScanWithAKeyTwice) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(1, Scan(""), Page({*Some("a", "1", 5), *Some("a", "1", 5)}, 5));
  ExpectBad(script, "not in order, or one comes twice");
}

TEST(CheckerTest, RejectsAReplyWithTooFewRevisions) {
  Script script;
  script.Do(0, Txn({}, {{"a", "1"}, {"b", "1"}}), Committed({5}));
  ExpectBad(script, "one revision for each");
}

TEST(CheckerTest, RejectsACompareWithARevisionTheKeyNeverHad) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Update("a", 4, "2"), Committed({6}));
  ExpectBad(script, "a revision it never had");
}

TEST(CheckerTest, AcceptsUnknownWritesThatHappenedOrDidNot) {
  Script script;
  script.Do(0, Put("a", "1"), Unknown());
  script.Do(0, Put("b", "1"), Unknown());
  script.Do(1, Get("a"), Nothing());
  script.Do(1, Get("b"), Found("b", "1", 6));
  ExpectGood(script);
}

TEST(CheckerTest, AcceptsAnUnknownWriteThatHappensLate) {
  Script script;
  script.Call(0, Put("a", "1"));
  script.Do(1, Get("a"), Nothing());
  script.Do(1, Put("b", "1"), Committed({5}));
  script.Do(1, Get("a"), Found("a", "1", 6));
  ExpectGood(script);
}

TEST(CheckerTest, AcceptsAnUnknownDeleteThatOnlyItsAbsenceTellsOf) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Delete("a"), Unknown());
  script.Do(1, Get("a"), Found("a", "1", 5));
  script.Do(1, Put("b", "1"), Committed({7}));
  script.Do(1, Get("a"), Nothing());
  ExpectGood(script);
}

TEST(CheckerTest, AcceptsAnUnknownPutThatOnlyADeleteTellsOf) {
  Script script;
  script.Do(0, Put("a", "1"), Unknown());
  script.Do(1, Delete("a"), Committed({}, {7}));
  ExpectGood(script);
}

TEST(CheckerTest, AcceptsTwoUnknownWritesThatOneReadTellsOf) {
  Script script;
  script.Do(0, Txn({}, {{"a", "1"}, {"b", "1"}}), Committed({5, 6}));
  script.Do(0, Delete("a"), Unknown());
  script.Do(0, Delete("b"), Unknown());
  script.Do(1, Scan(""), Page({*Some("a", "1", 5), *Some("b", "1", 6)}, 6));
  script.Do(1, Scan(""), Page({}, 9));
  ExpectGood(script);
}

TEST(CheckerTest, RejectsAnUnknownWriteThatIsAppliedTwice) {
  Script script;
  script.Do(0, Put("a", "1"), Unknown());
  script.Do(1, Get("a"), Found("a", "1", 5));
  script.Do(1, Put("a", "2"), Committed({6}));
  script.Do(1, Get("a"), Found("a", "1", 7));
  ExpectBad(script, "");
}

TEST(CheckerTest, RejectsAnUnknownDeleteThatIsAppliedTwice) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Delete("a"), Unknown());
  script.Do(1, Get("a"), Nothing());
  script.Do(1, Put("a", "2"), Committed({7}));
  script.Do(1, Get("a"), Nothing());
  ExpectBad(script, "get a -> nothing");
}

TEST(CheckerTest, RejectsAnUnknownWriteWhoseCompareCannotHaveHeld) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Put("a", "2"), Committed({6}));
  script.Do(1, Update("a", 5, "3"), Unknown());
  script.Do(1, Get("a"), Found("a", "3", 7));
  ExpectBad(script, "put a=3");
}

TEST(CheckerTest, RejectsAnUnknownWriteThatIsHalfSeen) {
  Script script;
  script.Do(0, Txn({}, {{"a", "1"}, {"b", "1"}}), Unknown());
  script.Do(1, Scan(""), Page({*Some("a", "1", 5)}, 6));
  ExpectBad(script, "scan");
}

TEST(CheckerTest, RejectsAnUnknownWriteSeenBeforeItWasCalled) {
  Script script;
  script.Do(1, Get("a"), Found("a", "1", 5));
  script.Do(0, Put("a", "1"), Unknown());
  ExpectBad(script, "get a");
}

TEST(CheckerTest, FailedReadsSayNothing) {
  Script script;
  script.Do(0, Get("a"), ReadFailed{});
  script.Call(0, Scan(""));
  script.Do(0, Put("a", "1"), Committed({5}));
  ExpectGood(script);
}

TEST(CheckerTest, DoesNotJudgeAHistoryWithTheSameValueTwice) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Put("a", "1"), Committed({6}));
  EXPECT_EQ(Check(script.Take()).verdict, Verdict::kUndecided);
}

TEST(CheckerTest, GivesUpAtItsLimitInsteadOfGuessing) {
  Script script;
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Put("a", "2"), Committed({6}));
  const CheckResult result = Check(script.Take(), {.max_configurations = 1});
  EXPECT_EQ(result.verdict, Verdict::kUndecided);
}

TEST(CheckerTest, ExplainsWhatFitsAndWhatDoesNot) {
  Script script;
  script.Do(0, Put("other", "1"), Committed({4}));
  script.Do(0, Put("a", "1"), Committed({5}));
  script.Do(0, Put("a", "2"), Committed({6}));
  script.Do(1, Get("a"), Found("a", "1", 5));
  EXPECT_EQ(Check(script.Take()).explanation,
            "not linearizable: 3 operations can be put in order, then none of the next fits.\n"
            "  the last of them that touch the same keys:\n"
            "    #1 3..4 client 0: put a=1 -> committed a@5\n"
            "    #2 5..6 client 0: put a=2 -> committed a@6\n"
            "  which leaves:\n"
            "    a = 2@6 (of #2)\n"
            "  and cannot be placed:\n"
            "    #3 7..8 client 1: get a -> a=1@5\n"
            "      needs a = 1@5 (of #1)\n");
}

}  // namespace
}  // namespace berth::linear
