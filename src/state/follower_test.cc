#include "state/follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "state/testing/test_store.h"

namespace berth::state {
namespace {

using std::chrono::milliseconds;
using testing::Body;
using ::testing::ElementsAre;
using testing::ServiceKey;
using testing::Stored;

constexpr base::SteadyTime kNever = base::SteadyTime::max();

/// Records all notifications, and checks that the follower had published what they report.
class Recorder final : public Listener {
 public:
  void OnBatch(const std::vector<Change>& changes, int64_t revision) override {
    for (const Change& change : changes) told.push_back(Text(change));
    Check(revision);
    if (on_batch) on_batch(revision);
  }
  void OnReset(const std::vector<Change>& changes, int64_t revision) override {
    told.emplace_back("reset");
    for (const Change& change : changes) told.push_back(Text(change));
    Check(revision);
  }

  static std::string Text(const Change& change) {
    const std::string name(change.Last()->Name());
    if (!change.object) return "-" + name + "=" + Body(*change.previous);
    if (!change.previous) return "+" + name + "=" + Body(*change.object);
    return name + "=" + Body(*change.previous) + ">" + Body(*change.object);
  }

  const Follower* follower = nullptr;
  std::vector<std::string> told;
  std::function<void(int64_t)> on_batch;

 private:
  void Check(int64_t revision) const { EXPECT_EQ(follower->Current()->Revision(), revision); }
};

class FollowerTest : public ::testing::Test {
 protected:
  void Make(FollowerOptions options = {}, store::MemoryOptions engine = {}) {
    store_.Open(std::move(engine));
    follower_ = std::make_unique<Follower>(*store_.engine, store_.resources,
                                           std::vector<Listener*>{&recorder_}, std::move(options),
                                           store_.clock, store_.log);
    recorder_.follower = follower_.get();
  }
  void PumpAll() {
    while (follower_->Pump()) {
    }
  }
  int64_t Put(const std::string& key, const std::string& value) { return store_.Put(key, value); }
  int64_t Delete(const std::string& key) { return store_.Delete(key); }
  std::map<std::string, std::string> Bodies() const {
    std::map<std::string, std::string> bodies;
    const SnapshotPtr snapshot = follower_->Current();
    for (SnapshotIterator at = snapshot->Seek(""); at.Valid(); at.Next()) {
      bodies[std::string(at.Get()->Name())] = Body(*at.Get());
    }
    return bodies;
  }
  /// Returns a callback that stores the revision of its snapshot in `result`, or -1 for an error.
  Follower::Await Note(std::optional<int64_t>& result) {
    return [&result](const base::Result<SnapshotPtr>& snapshot) {
      result = snapshot ? (*snapshot)->Revision() : -1;
    };
  }

  testing::TestStore store_;
  base::ManualClock& clock_ = store_.clock;
  Recorder recorder_;
  std::unique_ptr<Follower> follower_;
};

using NameToBody = std::map<std::string, std::string>;

TEST_F(FollowerTest, ReadsTheStoreAndFollowsIt) {
  Make({.page_entries = 2});
  for (const char* name : {"a", "b", "c", "d", "e"}) Put(ServiceKey("n", name), Stored("1"));
  Put("/registry/berth.io/own", "not an object");
  EXPECT_FALSE(follower_->Ready());
  EXPECT_EQ(follower_->Current()->Revision(), 0);
  PumpAll();
  EXPECT_TRUE(follower_->Ready());
  EXPECT_EQ(Bodies(), (NameToBody{{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}, {"e", "1"}}));

  recorder_.told.clear();
  Put(ServiceKey("n", "a"), Stored("2"));
  Delete(ServiceKey("n", "b"));
  const int64_t last = Put("/registry/namespaces/f", Stored("1"));
  PumpAll();
  EXPECT_THAT(recorder_.told, ElementsAre("a=1>2", "-b=1", "+f=1"));
  EXPECT_EQ(follower_->Current()->Revision(), last);
  EXPECT_EQ(follower_->Current()->Find(ServiceKey("n", "a"))->Revision(), last - 2);
}

TEST_F(FollowerTest, ProgressRaisesTheRevisionWithoutEvents) {
  Make();
  PumpAll();
  const int64_t revision = Put("/registry/berth.io/own", "x");
  PumpAll();
  EXPECT_EQ(follower_->Current()->Revision(), revision);
  EXPECT_THAT(recorder_.told, ElementsAre("reset"));
}

TEST_F(FollowerTest, WhoeverWaitsGoesOnWhenItsRevisionIsPublishedAndTold) {
  Make();
  PumpAll();
  std::optional<int64_t> result;
  const int64_t revision = Put(ServiceKey("n", "a"), Stored("1"));
  follower_->AwaitRevision(revision, kNever, Note(result));
  EXPECT_FALSE(result.has_value());
  PumpAll();
  EXPECT_EQ(result, revision);
  EXPECT_THAT(recorder_.told, ElementsAre("reset", "+a=1"));
  result.reset();
  follower_->AwaitRevision(revision, kNever, Note(result));
  EXPECT_EQ(result, revision);
}

TEST_F(FollowerTest, NobodyGoesOnBeforeTheListenersHaveBeenTold) {
  Make();
  PumpAll();
  std::optional<int64_t> result;
  recorder_.on_batch = [&](int64_t revision) {
    follower_->AwaitRevision(revision, kNever, Note(result));
    EXPECT_FALSE(result.has_value());
  };
  const int64_t revision = Put(ServiceKey("n", "a"), Stored("1"));
  PumpAll();
  EXPECT_EQ(result, revision);
}

TEST_F(FollowerTest, ARevisionFromTheFutureTimesOutAsKubernetesWordsIt) {
  Make();
  Put(ServiceKey("n", "a"), Stored("1"));
  PumpAll();
  base::Error error;
  follower_->AwaitRevision(
      99, clock_.Steady() + milliseconds(3000),
      [&error](const base::Result<SnapshotPtr>& snapshot) { error = snapshot.error(); });
  clock_.Advance(milliseconds(2999));
  PumpAll();
  EXPECT_EQ(error.message, "");
  clock_.Advance(milliseconds(1));
  PumpAll();
  EXPECT_EQ(error.reason, base::Reason::kTimeout);
  EXPECT_EQ(error.message, "Timeout: Too large resource version: 99, current: 1");
  ASSERT_EQ(error.causes.size(), 1U);
  EXPECT_EQ(error.causes[0].reason, "ResourceVersionTooLarge");
}

TEST_F(FollowerTest, TooManyWaitersAreRefusedAndAllAreSettledAtTheEnd) {
  Make({.max_waiting = 2});
  PumpAll();
  std::vector<base::Reason> reasons;
  for (int i = 0; i < 3; ++i) {
    follower_->AwaitRevision(100, kNever, [&reasons](const base::Result<SnapshotPtr>& snapshot) {
      reasons.push_back(snapshot.error().reason);
    });
  }
  EXPECT_THAT(reasons, ElementsAre(base::Reason::kTooManyRequests));
  follower_.reset();
  EXPECT_THAT(reasons,
              ElementsAre(base::Reason::kTooManyRequests, base::Reason::kServiceUnavailable,
                          base::Reason::kServiceUnavailable));
}

TEST_F(FollowerTest, AfterMissedEventsTheStoreIsReadAgainAndTheDifferenceReported) {
  Make({}, {.history_bytes = 1000, .ring_bytes = 1000});
  Put(ServiceKey("n", "same"), Stored("1"));
  Put(ServiceKey("n", "changes"), Stored("1"));
  Put(ServiceKey("n", "goes"), Stored("1"));
  PumpAll();
  const ObjectPtr same = follower_->Current()->Find(ServiceKey("n", "same"));
  recorder_.told.clear();

  Put(ServiceKey("n", "changes"), Stored("2"));
  Delete(ServiceKey("n", "goes"));
  Put(ServiceKey("n", "new"), Stored("1"));
  store_.LoseHistory();
  follower_->Pump();
  EXPECT_FALSE(follower_->Ready());
  EXPECT_EQ(Bodies().at("goes"), "1") << "readers keep the last snapshot";
  clock_.Advance(milliseconds(1000));
  PumpAll();
  EXPECT_TRUE(follower_->Ready());
  EXPECT_THAT(recorder_.told, ElementsAre("reset", "changes=1>2", "-goes=1", "+new=1"));
  EXPECT_EQ(Bodies(), (NameToBody{{"same", "1"}, {"changes", "2"}, {"new", "1"}}));
  EXPECT_EQ(follower_->Current()->Find(ServiceKey("n", "same")), same) << "not decoded again";

  recorder_.told.clear();
  Put(ServiceKey("n", "new"), Stored("2"));
  PumpAll();
  EXPECT_THAT(recorder_.told, ElementsAre("new=1>2"));
}

TEST_F(FollowerTest, WhatCannotBeDecodedIsLeftOutAndStopsNothing) {
  Make();
  Put(ServiceKey("n", "bad"), "garbage");
  Put(ServiceKey("n", "good"), Stored("1"));
  PumpAll();
  EXPECT_EQ(Bodies(), (NameToBody{{"good", "1"}}));
  EXPECT_TRUE(follower_->IsUndecodable(ServiceKey("n", "bad")));
  recorder_.told.clear();
  Put(ServiceKey("n", "good"), "garbage");
  Put(ServiceKey("n", "bad"), Stored("2"));
  Put(ServiceKey("n", "next"), Stored("3"));
  PumpAll();
  EXPECT_THAT(recorder_.told, ElementsAre("-good=1", "+bad=2", "+next=3"));
  EXPECT_FALSE(follower_->IsUndecodable(ServiceKey("n", "bad")));
  EXPECT_EQ(follower_->GetStats().undecodable, 1U);
  Delete(ServiceKey("n", "good"));
  PumpAll();
  EXPECT_EQ(follower_->GetStats().undecodable, 0U);
}

TEST_F(FollowerTest, WhatWasExpectedIsNotDecodedAgain) {
  Make();
  PumpAll();
  auto mine = std::make_shared<Expectation>(
      Expectation{.key = ServiceKey("n", "a"), .stored = "ours", .wire = testing::Wire("w")});
  auto other = std::make_shared<Expectation>(
      Expectation{.key = ServiceKey("n", "b"), .stored = "ours", .wire = testing::Wire("w")});
  auto gone = std::make_shared<Expectation>();
  follower_->Expect(mine);
  follower_->Expect(other);
  const int64_t revision = Put(ServiceKey("n", "a"), "ours");
  Put(ServiceKey("n", "b"), Stored("theirs"));
  PumpAll();
  EXPECT_EQ(Bodies(), (NameToBody{{"a", "w"}, {"b", "theirs"}}));
  EXPECT_EQ(mine->revision, revision);
  EXPECT_EQ(mine->object, follower_->Current()->Find(ServiceKey("n", "a")));
  EXPECT_EQ(other->revision, 0);
  EXPECT_FALSE(other->missed);

  follower_->Forget(mine);
  *gone = {.key = ServiceKey("n", "a"), .deletes = true, .before = revision};
  follower_->Expect(gone);
  const int64_t deleted = Delete(ServiceKey("n", "a"));
  PumpAll();
  EXPECT_EQ(gone->revision, deleted);
}

TEST_F(FollowerTest, ExpectationsThatWereNotKeptOrMayHaveBeenMissedSayso) {
  Make({.max_expected = 1}, {.history_bytes = 1000, .ring_bytes = 1000});
  PumpAll();
  auto kept = std::make_shared<Expectation>(Expectation{.key = ServiceKey("n", "a")});
  auto refused = std::make_shared<Expectation>(Expectation{.key = ServiceKey("n", "b")});
  follower_->Expect(kept);
  follower_->Expect(refused);
  EXPECT_FALSE(kept->missed);
  EXPECT_TRUE(refused->missed);
  store_.LoseHistory();
  follower_->Pump();
  clock_.Advance(milliseconds(1000));
  PumpAll();
  EXPECT_TRUE(kept->missed);
}

TEST_F(FollowerTest, ReadsOfAnOwnStoreTakeWhatIsPublished) {
  Make();
  std::optional<int64_t> result;
  follower_->ReadCurrent(kNever, Note(result));
  EXPECT_FALSE(result.has_value()) << "there is no snapshot yet";
  PumpAll();
  EXPECT_EQ(result, 0);
  Put(ServiceKey("n", "a"), Stored("1"));
  result.reset();
  follower_->ReadCurrent(kNever, Note(result));
  EXPECT_EQ(result, 0);
}

TEST_F(FollowerTest, ReadsOfASharedStoreShowWhatOthersWrote) {
  Make({.shared_store = true});
  PumpAll();
  const int64_t revision = Put(ServiceKey("n", "a"), Stored("1"));
  std::optional<int64_t> result;
  follower_->ReadCurrent(kNever, Note(result));
  EXPECT_FALSE(result.has_value());
  PumpAll();
  EXPECT_EQ(result, revision);
}

TEST_F(FollowerTest, TimersRunWhenTheyAreDueInOrder) {
  Make();
  PumpAll();
  std::string ran;
  follower_->RunAt(clock_.Steady() + milliseconds(20), [&ran] { ran += "b"; });
  follower_->RunAt(clock_.Steady() + milliseconds(10), [&ran] { ran += "a"; });
  PumpAll();
  EXPECT_EQ(ran, "");
  clock_.Advance(milliseconds(30));
  PumpAll();
  EXPECT_EQ(ran, "ab");
}

TEST_F(FollowerTest, RandomWritesAndLossesEndInTheSameSnapshot) {
  const uint64_t seed = base::TestSeed(5);
  SCOPED_TRACE("seed " + std::to_string(seed));
  base::SeededRandom random(seed);
  Make({.batch_events = 7, .page_entries = 5}, {.history_bytes = 20'000, .ring_bytes = 2000});
  NameToBody model;
  for (int64_t i = base::LongCount(20'000); i > 0; --i) {
    const std::string name = "n" + std::to_string(base::Uniform(random, 60));
    switch (base::Uniform(random, 10)) {
      case 0:
        follower_->Pump();
        break;
      case 1:
        clock_.Advance(milliseconds(base::Uniform(random, 300)));
        if (base::Uniform(random, 20) == 0) store_.LoseHistory();
        break;
      case 2:
      case 3:
      case 4:
        if (model.erase(name) > 0) Delete(ServiceKey("n", name));
        break;
      default:
        model[name] = std::to_string(i);
        Put(ServiceKey("n", name), Stored(model[name]));
    }
  }
  clock_.Advance(milliseconds(1000));
  PumpAll();
  EXPECT_EQ(Bodies(), model);
}

TEST_F(FollowerTest, FollowsOnAThreadOfItsOwn) {
  store_.OpenForThreads();
  follower_ = std::make_unique<Follower>(*store_.engine, store_.resources, std::vector<Listener*>{},
                                         FollowerOptions{.shared_store = true}, store_.system_clock,
                                         store_.log);
  follower_->Start();
  ASSERT_TRUE(follower_->WaitReady(std::chrono::seconds(60)));
  std::vector<std::thread> writers;
  std::atomic<int> stale = 0;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([this, w, &stale] {
      for (int i = 0; i < 200; ++i) {
        const std::string key = ServiceKey("n", std::to_string(w));
        const int64_t revision = Put(key, Stored(std::to_string(i)));
        store::Awaited<base::Result<SnapshotPtr>> seen;
        if (i % 2 == 0) {
          follower_->AwaitRevision(revision, kNever, seen.Setter());
        } else {
          follower_->ReadCurrent(kNever, seen.Setter());
        }
        const ObjectPtr object = (*seen.Wait())->Find(key);
        if (!object || object->Revision() != revision) ++stale;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(stale, 0);
}

}  // namespace
}  // namespace berth::state
