// The watch check itself, on histories and events written by hand.
#include "linear/watch_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "linear/script.h"

namespace berth::linear {
namespace {

using testing::HasSubstr;

store::Event Put(std::string key, std::string value, int64_t revision,
                 std::optional<store::Entry> previous = std::nullopt) {
  return {.type = store::Event::Type::kPut,
          .key = std::move(key),
          .value = std::move(value),
          .revision = {revision},
          .previous = std::move(previous)};
}

store::Event Gone(std::string key, int64_t revision, std::optional<store::Entry> previous) {
  return {.type = store::Event::Type::kDelete,
          .key = std::move(key),
          .revision = {revision},
          .previous = std::move(previous)};
}

/// a=1@5, then in one transaction a=2@6 and b=1@7, then a deleted @8; a create that conflicted; and
/// a transaction of unknown outcome on c, d and b.
class WatchCheckTest : public testing::Test {
 protected:
  WatchCheckTest() {
    Script script;
    script.Do(0, Create("a", "1"), Committed({5}));
    script.Do(0, Txn({}, {{"a", "2"}, {"b", "1"}}), Committed({6, 7}));
    script.Do(0, Create("b", "no"), Conflicting({{0, Some("b", "1", 7)}}));
    script.Do(0, Delete("a"), Committed({}, {8}));
    script.Do(0, Txn({}, {{"c", "9"}, {"d", "9"}}, {"b"}), Unknown());
    history_ = script.Take();
    record_.events = {Put("a", "1", 5), Put("a", "2", 6, Some("a", "1", 5)), Put("b", "1", 7),
                      Gone("a", 8, Some("a", "2", 6))};
    record_.upto = {8};
  }

  std::string Checked() const { return CheckWatch(history_, record_); }

  History history_;
  WatchRecord record_;
};

TEST_F(WatchCheckTest, AcceptsEverythingOnce) { EXPECT_EQ(Checked(), ""); }

TEST_F(WatchCheckTest, AcceptsAnUnknownTxnThatIsWhole) {
  record_.events.push_back(Put("c", "9", 20));
  record_.events.push_back(Put("d", "9", 21));
  record_.events.push_back(Gone("b", 22, Some("b", "1", 7)));
  EXPECT_EQ(Checked(), "");
}

TEST_F(WatchCheckTest, RejectsAGap) {
  record_.events.erase(record_.events.begin() + 2);
  EXPECT_THAT(Checked(), HasSubstr("it missed the put of b = 1@7"));
}

TEST_F(WatchCheckTest, RejectsAMissingEnd) {
  record_.events.pop_back();
  EXPECT_THAT(Checked(), HasSubstr("it missed the delete of a@8"));
}

TEST_F(WatchCheckTest, RejectsADuplicate) {
  record_.events.insert(record_.events.begin() + 1, record_.events.front());
  EXPECT_THAT(Checked(), HasSubstr("put of a = 1@5 comes after revision 5"));
}

TEST_F(WatchCheckTest, RejectsDisorder) {
  std::swap(record_.events[1], record_.events[2]);
  EXPECT_THAT(Checked(), HasSubstr("put of a = 2@6 comes after revision 7"));
}

TEST_F(WatchCheckTest, RejectsWhatCameBeforeItsBeginning) {
  record_.after = {5};
  EXPECT_THAT(Checked(), HasSubstr("put of a = 1@5 comes after revision 5"));
}

TEST_F(WatchCheckTest, RejectsAnotherValue) {
  record_.events[2].value = "2";
  EXPECT_THAT(Checked(), HasSubstr("it saw a put of b = 2@7 instead of a put of b = 1@7"));
}

TEST_F(WatchCheckTest, RejectsAnotherRevision) {
  record_.events[3].revision = {9};
  EXPECT_THAT(Checked(), HasSubstr("delete of a@9 that no operation made"));
}

TEST_F(WatchCheckTest, RejectsAWriteThatConflicted) {
  record_.events.push_back(Put("b", "no", 9, Some("b", "1", 7)));
  EXPECT_THAT(Checked(), HasSubstr("put of b = no@9 that no operation made"));
}

TEST_F(WatchCheckTest, RejectsAWrongPreviousEntry) {
  record_.events[1].previous->value = "0";
  EXPECT_THAT(Checked(), HasSubstr("wrong previous"));
}

TEST_F(WatchCheckTest, RejectsAMissingPreviousEntry) {
  record_.events[3].previous.reset();
  EXPECT_THAT(Checked(), HasSubstr("without its previous entry"));
}

TEST_F(WatchCheckTest, RejectsAnUnknownTxnThatIsHalfThere) {
  record_.events.push_back(Put("c", "9", 20));
  EXPECT_THAT(Checked(), HasSubstr("only a part"));
}

TEST_F(WatchCheckTest, RejectsAnUnknownTxnThatComesTwice) {
  record_.events.push_back(Put("c", "9", 20));
  record_.events.push_back(Put("d", "9", 21));
  record_.events.push_back(Put("c", "9", 22, Some("c", "9", 20)));
  EXPECT_THAT(Checked(), HasSubstr("is the second of it"));
}

TEST_F(WatchCheckTest, RejectsAnUnknownDeleteThatComesTwice) {
  record_.events.push_back(Gone("b", 20, Some("b", "1", 7)));
  record_.events.push_back(Gone("b", 21, std::nullopt));
  EXPECT_THAT(Checked(), HasSubstr("delete of b@21 that no operation made"));
}

TEST_F(WatchCheckTest, RejectsAWatchThatEnded) {
  record_.error = "history is gone";
  EXPECT_THAT(Checked(), HasSubstr("history is gone"));
}

}  // namespace
}  // namespace berth::linear
