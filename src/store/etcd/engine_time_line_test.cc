// The engine on a model of etcd that is restored from a backup while processes run, are paused, or
// are stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "store/etcd/marker.h"
#include "store/etcd/note.h"
#include "store/etcd/opening.h"
#include "store/etcd/testing/engine_rig.h"

namespace berth::store::etcd {
namespace {

using ::testing::HasSubstr;
using testing::kPatience;

class OnRestoredEtcd : public testing::EngineRig {
 protected:
  OnRestoredEtcd() {
    options_.keep_note = [this](const Note& note) {
      base::MutexLock lock(mutex_);
      note_ = note;
    };
    options_.stopped = [this] { stopped_ = true; };
  }
  /// The engine keeps a last note when it closes, so it ends before the note's place.
  ~OnRestoredEtcd() override {
    reader_.reset();
    Close();
  }
  OnRestoredEtcd(const OnRestoredEtcd&) = delete;
  OnRestoredEtcd& operator=(const OnRestoredEtcd&) = delete;

  static WatchReader::Deadline Soon() { return std::chrono::steady_clock::now() + kPatience; }

  /// Opens an engine that follows the store, and writes a=1.
  void OpenAndFollow() {
    ASSERT_NO_FATAL_FAILURE(Open());
    reader_.emplace(*engine_, WatchRequest{.prefix = Key(""), .after = *CurrentNow(*engine_)});
    Follow("a", "1");
  }

  void Follow(std::string_view name, std::string_view payload) {
    ASSERT_EQ(Commit(PutOf(name, payload)).outcome, Outcome::kCommitted);
    ASSERT_TRUE(reader_->Next(1, Soon()));
  }

  /// Makes a backup, lets the engine write a=2 after it, and goes back to the backup. Then others
  /// write until the revision is `more` above the one that the engine has seen.
  void RestoreAndAdvance(int64_t more) {
    const int64_t backup = etcd_.Revision();
    Follow("a", "2");
    const int64_t seen = etcd_.Revision();
    etcd_.GoBackTo(backup);
    while (etcd_.Revision() < seen + more) PutRaw("/registry/t/b", contract::MakeValue("other"));
  }

  /// Ends the engine and opens it again with its note, as a server does that starts over.
  void StartOver() {
    reader_.reset();
    Close();
    options_.note = Kept();
    stopped_ = false;
    ASSERT_NO_FATAL_FAILURE(Open());
  }

  /// Returns whether the engine says that it has stopped. Its calls may fail a moment earlier,
  /// because one thread finds the reason and another one makes the call.
  bool Stops() {
    return Eventually([this] { return stopped_.load(); });
  }

  std::optional<Note> Kept() {
    base::MutexLock lock(mutex_);
    return note_;
  }

  Revision BaseInEtcd() {
    const auto marker = RawRange(OwnKey("mode"));
    return marker.empty() ? Revision{} : ParseMarker(marker[0].value())->base;
  }

  std::atomic<bool> stopped_ = false;
  std::optional<WatchReader> reader_;
  base::Mutex mutex_;
  std::optional<Note> note_ GUARDED_BY(mutex_);
};

TEST_F(OnRestoredEtcd, AStreamOfAnotherTimeLineIsNotTaken) {
  ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
  RestoreAndAdvance(5);
  client_->BreakWatches();
  EXPECT_TRUE(Stops());
  EXPECT_THAT(engine_->GetHealth().why, HasSubstr("etcd has another past than before"));
  const TxnReply reply = Commit(PutOf("a", "3"));
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_THAT(reply.error.message, HasSubstr("restored from a backup"));
}

TEST_F(OnRestoredEtcd, ACurrentReadNoticesBeforeTheStreamDoes) {
  for (const int64_t more : {0, 3}) {
    ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
    RestoreAndAdvance(more);
    const auto current = CurrentNow(*engine_);
    ASSERT_FALSE(current) << more;
    EXPECT_THAT(current.error().message, HasSubstr("another past"));
    EXPECT_TRUE(Stops());
    StartOver();
    reader_.reset();
    Close();
  }
}

TEST_F(OnRestoredEtcd, AWriteThatOnlyReachesTheOldRevisionIsNotAcknowledged) {
  ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
  RestoreAndAdvance(-1);
  const TxnReply reply = Commit(PutOf("c", "3"));
  EXPECT_NE(reply.outcome, Outcome::kCommitted);
  EXPECT_TRUE(Stops());
}

TEST_F(OnRestoredEtcd, StartingOverBeginsATimeLineAboveTheLast) {
  ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
  const Revision before = *CurrentNow(*engine_);
  RestoreAndAdvance(3);
  EXPECT_FALSE(CurrentNow(*engine_));
  StartOver();
  EXPECT_GE(BaseInEtcd().value, before.value + kTimeLineRaise);
  EXPECT_GT(CurrentNow(*engine_)->value, before.value + kTimeLineRaise);
  EXPECT_EQ(Get("a"), "1");
  // What a client saw before the restore is expired.
  const auto history = engine_->ReadHistory({.after = before, .upto = *CurrentNow(*engine_)});
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().reason, base::Reason::kExpired);
  // The next start finds all as it was.
  const Revision base = BaseInEtcd();
  StartOver();
  EXPECT_EQ(BaseInEtcd(), base);
}

TEST_F(OnRestoredEtcd, OthersFollowIntoTheNewTimeLine) {
  ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
  options_.keep_note = nullptr;
  PutRaw(OwnKey("mode"), MarkerText({.base = {kTimeLineRaise}}));
  Commit(PutOf("a", "2"));  // Makes the model deliver its events.
  EXPECT_TRUE(Stops());
  EXPECT_FALSE(CurrentNow(*engine_));
  StartOver();
  EXPECT_EQ(BaseInEtcd().value, kTimeLineRaise);
}

TEST_F(OnRestoredEtcd, ARestoreWhileAllAreStoppedIsNoticedAtTheStart) {
  ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
  const int64_t backup = etcd_.Revision();
  Follow("a", "2");
  reader_.reset();
  Close();
  options_.note = Kept();
  etcd_.GoBackTo(backup);
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_GT(CurrentNow(*engine_)->value, options_.note->revision.value);
}

TEST_F(OnRestoredEtcd, AnUnchangedStoreKeepsItsTimeLine) {
  ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
  for (int i = 0; i < 3; ++i) {
    client_->BreakWatches();
    Follow("a", std::to_string(i));
  }
  EXPECT_FALSE(stopped_);
  StartOver();
  EXPECT_EQ(BaseInEtcd().value, 0);
  // Nor does it change if the past that the note speaks of is compacted.
  PutRaw("/registry/t/b", "x");
  ASSERT_TRUE(etcd_.Compact(etcd_.Revision()));
  StartOver();
  EXPECT_EQ(BaseInEtcd().value, 0);
  EXPECT_EQ(Commit(PutOf("a", "9")).outcome, Outcome::kCommitted);
}

TEST_F(OnRestoredEtcd, ARemovedMarkerIsPutAgain) {
  ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
  const Revision before = *CurrentNow(*engine_);
  DeleteRaw(OwnKey("mode"));
  EXPECT_EQ(Commit(PutOf("a", "2")).outcome, Outcome::kRefused);
  EXPECT_TRUE(Stops());
  StartOver();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(BaseInEtcd().value, 0);
  EXPECT_GT(*CurrentNow(*engine_), before);
}

TEST_F(OnRestoredEtcd, AMarkerThatCannotBeUnderstoodIsWaitedFor) {
  ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
  PutRaw(OwnKey("mode"), "garbage");
  const TxnReply reply = Commit(PutOf("a", "2"));
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_THAT(reply.error.message, HasSubstr("does not understand: its line \"garbage\""));
  EXPECT_EQ(engine_->GetHealth().why, reply.error.message);
  EXPECT_FALSE(stopped_);
  PutRaw(OwnKey("mode"), MarkerText({}));
  Follow("a", "3");
  EXPECT_TRUE(engine_->GetHealth().writable);
}

TEST_F(OnRestoredEtcd, AWipedPrefixIsTakenIntoUseAgain) {
  ASSERT_NO_FATAL_FAILURE(OpenAndFollow());
  const Revision before = *CurrentNow(*engine_);
  DeleteRaw("/registry/", "/registry0");
  EXPECT_NE(Commit(PutOf("a", "2")).outcome, Outcome::kCommitted);
  EXPECT_TRUE(Stops());
  StartOver();
  EXPECT_EQ(Get("a"), "");
  const Revision now = *CurrentNow(*engine_);
  EXPECT_GT(now, before);
  // A client that goes on from before would not learn that everything is gone.
  const auto history = engine_->ReadHistory({.after = before, .upto = now});
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().reason, base::Reason::kExpired);
}

TEST_F(OnRestoredEtcd, ANoteDoesNotOpenThePrefixOfAnotherProgram) {
  PutRaw("/registry/pods/p", "x");
  options_.note = Note{.prefix = "/registry",
                       .base = {},
                       .revision = {5},
                       .witness = {.mod = 2, .key = OwnKey("tick"), .value = "x-1"}};
  const auto opened = TryOpen();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("no marker of Berth's"));
}

TEST(Note, TextIsReadAsItWasWritten) {
  const Note note{.prefix = "/team/a",
                  .base = {7},
                  .revision = {99},
                  .witness = {.mod = 3, .key = "/team/a/berth.io/tick", .value = "ab-4"}};
  EXPECT_EQ(ParseNote(NoteText(note)).value(), note);
  for (const char* bad : {"", "prefix", "prefix=/a\nwitnessKey=k\nwitnessValue=\nrevision=-1\n"}) {
    EXPECT_FALSE(ParseNote(bad)) << bad;
  }
}

}  // namespace
}  // namespace berth::store::etcd
