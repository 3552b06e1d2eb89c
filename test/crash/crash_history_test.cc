// The judge itself: it accepts what is right and catches everything that it must catch.
#include "crash/crash_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace crash {
namespace {

using berth::store::Outcome;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kA = "/registry/crash/a";
constexpr const char* kB = "/registry/crash/b";

FoundEvent PutEvent(OpId op, const std::string& key, int64_t revision) {
  return {
      .is_put = true, .key = key, .revision = revision, .print = PrintOf(ValueOf(op, key, 100))};
}

FoundEvent DeleteEvent(const std::string& key, int64_t revision) {
  return {.is_put = false, .key = key, .revision = revision, .print = {}};
}

FoundKey Key(OpId op, const std::string& key, int64_t revision) {
  return {.revision = revision, .print = PrintOf(ValueOf(op, key, 100))};
}

Attempt PutBoth(OpId op) {
  return {.op = op, .compares = {}, .puts = {{kA, 100}, {kB, 100}}, .deletes = {}};
}

Reply Committed(std::vector<int64_t> puts, std::vector<int64_t> deletes = {}) {
  return {.outcome = Outcome::kCommitted,
          .puts = std::move(puts),
          .deletes = std::move(deletes),
          .seen = {}};
}

OpLog Empty() {
  OpLog log;
  log.ready = true;
  return log;
}

/// A store in which op 1 has put both keys (revisions 1, 2; acknowledged), op 2 has put a and
/// deleted b (3, 4; acknowledged), and op 3 attempts to put both and never gets a reply.
class HistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    OpLog log = Empty();
    log.attempts = {
        PutBoth(1),
        {.op = 2, .compares = {{.key = kA, .revision = {1}}}, .puts = {{kA, 100}}, .deletes = {kB}},
        PutBoth(3)};
    log.replies[1] = Committed({1, 2});
    log.replies[2] = Committed({3}, {4});
    ASSERT_THAT(history_.Judge(log, 0), IsEmpty());
    // What the next writer should find, without op 3.
    found_ = Empty();
    found_.current = 4;
    found_.events = {PutEvent(1, kA, 1), PutEvent(1, kB, 2), PutEvent(2, kA, 3),
                     DeleteEvent(kB, 4)};
    found_.keys = {{kA, Key(2, kA, 3)}};
  }

  void ExpectFault(const std::string& what) {
    EXPECT_THAT(history_.Judge(found_, 0), Contains(HasSubstr(what)));
  }

  History history_;
  OpLog found_;
};

TEST_F(HistoryTest, WhatWasNotRepliedMayBeMissing) {
  EXPECT_THAT(history_.Judge(found_, 0), IsEmpty());
  EXPECT_EQ(history_.GetCounts().acknowledged, 2);
  EXPECT_EQ(history_.GetCounts().kept, 0);
  EXPECT_EQ(history_.GetCounts().not_kept, 1);
}

TEST_F(HistoryTest, WhatWasNotRepliedMayBeThere) {
  found_.current = 6;
  found_.events.push_back(PutEvent(3, kA, 5));
  found_.events.push_back(PutEvent(3, kB, 6));
  found_.keys = {{kA, Key(3, kA, 5)}, {kB, Key(3, kB, 6)}};
  EXPECT_THAT(history_.Judge(found_, 0), IsEmpty());
  EXPECT_EQ(history_.GetCounts().kept, 1);
  EXPECT_EQ(history_.GetCounts().not_kept, 0);
}

TEST_F(HistoryTest, LostAcknowledgedWrite) {
  found_.events.resize(2);
  found_.keys = {{kA, Key(1, kA, 1)}, {kB, Key(1, kB, 2)}};
  ExpectFault("2 was acknowledged (revision 3) and is gone");
}

TEST_F(HistoryTest, HalfAWrite) {
  found_.current = 5;
  found_.events.push_back(PutEvent(3, kA, 5));
  found_.keys[kA] = Key(3, kA, 5);
  ExpectFault("3 is half there: its put of /registry/crash/b is missing");
}

TEST_F(HistoryTest, HalfADelete) {
  found_.events.pop_back();
  found_.keys[kB] = Key(1, kB, 2);
  ExpectFault("2 is half there: its delete of /registry/crash/b is missing");
}

TEST_F(HistoryTest, AnotherRevisionThanAcknowledged) {
  found_.current = 7;
  found_.events[2].revision = 6;
  found_.events[3].revision = 7;
  found_.keys[kA].revision = 6;
  ExpectFault("was acknowledged as revision 3: revision 6");
}

TEST_F(HistoryTest, AnotherValue) {
  found_.events[2].print.crc ^= 1;
  found_.keys[kA].print.crc ^= 1;
  ExpectFault("has another value: revision 3");
}

TEST_F(HistoryTest, AStateThatIsNotThatOfTheEvents) {
  found_.keys[kB] = Key(1, kB, 2);
  ExpectFault("not what its events lead to: /registry/crash/b should not be there");
}

TEST_F(HistoryTest, AKeyLostThatItsEventsHave) {
  found_.keys.clear();
  ExpectFault("not what its events lead to: /registry/crash/a is missing");
}

TEST_F(HistoryTest, EventsOutOfOrder) {
  std::swap(found_.events[2], found_.events[3]);
  ExpectFault("out of order or doubled: revision 3");
}

TEST_F(HistoryTest, AnEventTwice) {
  found_.events.insert(found_.events.begin(), found_.events.front());
  ExpectFault("out of order or doubled: revision 1");
}

TEST_F(HistoryTest, AWriteThatNobodyMade) {
  found_.current = 5;
  found_.events.push_back(PutEvent(77, kA, 5));
  found_.keys[kA] = Key(77, kA, 5);
  ExpectFault("belongs to no attempt that was under way: revision 5");
}

TEST_F(HistoryTest, RevisionsThatGoBack) {
  found_.current = 3;
  ExpectFault("revisions go back: 3 is current, 4 was seen");
}

TEST_F(HistoryTest, ANewRevisionThatIsOld) {
  found_.attempts = {PutBoth(9)};
  found_.replies[9] = Committed({4, 5});
  ExpectFault("revisions go back: 9 was given revision 4 after 4 was current");
}

TEST_F(HistoryTest, RefusedAndHappened) {
  OpLog more;
  more.attempts = {PutBoth(8)};
  more.replies[8].outcome = Outcome::kRefused;
  EXPECT_THAT(history_.Judge(more, 0), IsEmpty());
  found_.current = 6;
  found_.events.push_back(PutEvent(8, kA, 5));
  found_.events.push_back(PutEvent(8, kB, 6));
  found_.keys = {{kA, Key(8, kA, 5)}, {kB, Key(8, kB, 6)}};
  ExpectFault("was refused and happened all the same: revision 5");
}

TEST_F(HistoryTest, HappenedAgainstItsCompare) {
  OpLog more;
  more.attempts = {PutBoth(8)};
  more.attempts[0].compares = {{.key = kA, .revision = {2}}};
  EXPECT_THAT(history_.Judge(more, 0), IsEmpty());
  found_.current = 6;
  found_.events.push_back(PutEvent(8, kA, 5));
  found_.events.push_back(PutEvent(8, kB, 6));
  found_.keys = {{kA, Key(8, kA, 5)}, {kB, Key(8, kB, 6)}};
  ExpectFault("happened though /registry/crash/a did not have revision 2");
}

TEST_F(HistoryTest, SeenInAConflictAndGone) {
  OpLog more;
  more.attempts = {PutBoth(8)};
  more.replies[8] = {.outcome = Outcome::kConflict,
                     .puts = {},
                     .deletes = {},
                     .seen = {{.key = kA, .revision = {5}}}};
  EXPECT_THAT(history_.Judge(more, 0), IsEmpty());
  found_.current = 5;
  ExpectFault("/registry/crash/a was seen with revision 5, which is gone");
}

TEST_F(HistoryTest, ThePastMustNotChange) {
  ASSERT_THAT(history_.Judge(found_, 0), IsEmpty());
  const auto with = [this](const std::function<void(OpLog&)>& change) {
    History history = history_;
    OpLog log = found_;
    change(log);
    return history.Judge(log, 0);
  };
  EXPECT_THAT(with([](OpLog&) {}), IsEmpty());
  EXPECT_THAT(with([](OpLog& log) { log.events.erase(log.events.begin() + 1); }),
              Contains(HasSubstr("not what was reported before: revision 3")));
  EXPECT_THAT(with([](OpLog& log) { log.events.pop_back(); }),
              Contains(HasSubstr("missing: revision 4")));
  EXPECT_THAT(with([](OpLog& log) { log.events[0].print.crc ^= 1; }),
              Contains(HasSubstr("not what was reported before: revision 1")));
}

TEST_F(HistoryTest, OldStatesMustNotChange) {
  ASSERT_THAT(history_.Judge(found_, 0), IsEmpty());
  found_.old_keys = found_.keys;
  found_.events.clear();
  EXPECT_THAT(History(history_).Judge(found_, 4), IsEmpty());
  found_.old_keys[kA].revision = 1;
  EXPECT_THAT(history_.Judge(found_, 4),
              Contains(HasSubstr("the state at revision 4 is not what it was")));
}

TEST(OpLog, ReadsWhatItWrites) {
  const std::string text =
      "O /registry/crash/k 3 7 100 99\nN /registry/crash/k 4 8 101 98\n"
      "P /registry/crash/k 4 8 101 98\nD /registry/crash/k 5\nG 17\n"
      "A 21 1 1 2 /registry/crash/k 5 /registry/crash/m 64 /registry/crash/n /registry/crash/o\n"
      "K 21 1 2 18 0 19\nX 22 1 /registry/crash/k 5\nR 23 no space at all\nF sync 3 failed\n"
      "K 24 0 0\nU 25 closed\nA 26 0";
  const OpLog log = ParseOpLog(text);
  EXPECT_EQ(log.error, "");
  EXPECT_TRUE(log.ready);
  EXPECT_EQ(log.current, 17);
  EXPECT_EQ(log.old_keys.at("/registry/crash/k").print.op, 7U);
  EXPECT_EQ(log.keys.at("/registry/crash/k").print.crc, 98U);
  ASSERT_EQ(log.events.size(), 2U);
  EXPECT_FALSE(log.events[1].is_put);
  ASSERT_EQ(log.attempts.size(), 1U) << "the last line is not whole";
  EXPECT_EQ(log.attempts[0].deletes.size(), 2U);
  EXPECT_EQ(log.replies.at(21).deletes, (std::vector<int64_t>{0, 19}));
  EXPECT_EQ(log.replies.at(22).seen.at(0).revision.value, 5);
  EXPECT_EQ(log.replies.at(23).outcome, Outcome::kRefused);
  EXPECT_EQ(log.replies.at(25).outcome, Outcome::kUnknown);
  EXPECT_EQ(log.committed_after_fault, 1U);
  EXPECT_NE(ParseOpLog("what is this\n").error, "");
  EXPECT_NE(ParseOpLog("A 21 5 5 5\n").error, "");
}

}  // namespace
}  // namespace crash
