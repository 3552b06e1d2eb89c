// The engine on a model of etcd: who owns the prefix, writes of others to it, watches that break,
// and periodic work.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "store/etcd/compactor.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/etcd_housekeeper.h"
#include "store/etcd/events.h"
#include "store/etcd/leases.h"
#include "store/etcd/marker.h"
#include "store/etcd/testing/engine_rig.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;
using contract::Item;
using contract::MakeValue;
using std::chrono::seconds;
using ::testing::HasSubstr;
using testing::kPatience;

class OnFake : public testing::EngineRig {
 protected:
  std::string OpenError() {
    auto opened = TryOpen();
    return opened ? "" : opened.error().message;
  }

  static WatchReader::Deadline Soon() { return std::chrono::steady_clock::now() + kPatience; }
};

// --- Opening -------------------------------------------------------------------------------------

TEST_F(OnFake, AnEmptyPrefixIsTakenIntoUse) {
  options_.base = {1'000'000};
  ASSERT_NO_FATAL_FAILURE(Open());
  const auto marker = RawRange(OwnKey("mode"));
  ASSERT_EQ(marker.size(), 1U);
  EXPECT_EQ(ParseMarker(marker[0].value()).value(), (Marker{.base = {1'000'000}}));
  const TxnReply reply = Commit(PutOf("a", "1"));
  EXPECT_GT(reply.puts.at(0).value, 1'000'000);
  EXPECT_EQ(engine_->Compacted().value, 1'000'000);
  Close();
  // The base in the marker counts, not the one in the options.
  options_.base = {5};
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(Items(), (std::vector<Item>{{Key("a"), "1", reply.puts[0].value}}));
}

TEST_F(OnFake, SomebodyElsesKeysAreNotTouched) {
  PutRaw("/registry/services/specs/default/kubernetes", "k8s");
  EXPECT_EQ(OpenError(),
            "the etcd prefix /registry holds 1 key but no marker of Berth's "
            "(/registry/berth.io/mode), so it is somebody else's, a kube-apiserver's for example: "
            "/registry/services/specs/default/kubernetes. Choose another --etcd-prefix or an empty "
            "etcd");
  for (int i = 0; i < 9; ++i) PutRaw(fmt::format("/registry/pods/p{}", i), "x");
  const int64_t before = etcd_.Revision();
  EXPECT_THAT(OpenError(), HasSubstr("holds 10 keys"));
  EXPECT_THAT(OpenError(),
              HasSubstr("/registry/pods/p0, /registry/pods/p1, /registry/pods/p2 and others"));
  EXPECT_EQ(etcd_.Revision(), before);
  // Another prefix beside it can be used.
  options_.prefix = "/registry2";
  EXPECT_EQ(OpenError(), "");
}

TEST_F(OnFake, WithoutLeaveNoStoreIsMade) {
  options_.create = false;
  EXPECT_EQ(OpenError(), "there is no store under the etcd prefix /registry");
  EXPECT_EQ(etcd_.Revision(), 1);
}

TEST_F(OnFake, AMarkerOfAnotherKindIsRefused) {
  PutRaw(OwnKey("mode"), "format=7\nmode=shared\n");
  EXPECT_THAT(OpenError(), HasSubstr("of its marker /registry/berth.io/mode, it has format \"7\", "
                                     "this Berth reads format 1"));
  PutRaw(OwnKey("mode"), "format=1\nmode=shared\n");
  EXPECT_THAT(OpenError(), HasSubstr("a Berth of the version that wrote it is needed"));
}

TEST_F(OnFake, AnEtcdThatIsAwayIsSaidToBe) {
  network_.reads_fail = true;
  EXPECT_THAT(OpenError(), HasSubstr("nothing listens there"));
}

TEST_F(OnFake, ClosingLeavesNothingOfTheProcess) {
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(RawRange(OwnKey("fence/process/")).size(), 1 + options_.max_in_flight);
  EXPECT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
  Close();
  EXPECT_EQ(RawRange(OwnKey("fence/process/")).size(), 0U);
  EXPECT_EQ(RawRange("/registry/t/").size(), 1U);
}

// --- Writes of others ----------------------------------------------------------------------------

TEST_F(OnFake, AMarkerWrittenAnewChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(Open());
  PutRaw(OwnKey("mode"), MarkerText({}));
  EXPECT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
  EXPECT_EQ(Commit(PutOf("a", "2")).outcome, Outcome::kCommitted);
}

TEST_F(OnFake, AChangedMarkerStopsWrites) {
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
  PutRaw(OwnKey("mode"), MarkerText({.base = {5}}));
  for (int i = 0; i < 2; ++i) {
    const TxnReply reply = Commit(PutOf("a", "2"));
    EXPECT_EQ(reply.outcome, Outcome::kRefused);
    EXPECT_EQ(reply.error.reason, base::Reason::kServiceUnavailable);
    EXPECT_THAT(reply.error.message,
                HasSubstr("the marker /registry/berth.io/mode in etcd changed"));
  }
  EXPECT_FALSE(engine_->GetHealth().writable);
  EXPECT_THAT(engine_->GetHealth().why, HasSubstr("another time line began"));
  EXPECT_FALSE(GetNow(*engine_, Key("a")));
}

TEST_F(OnFake, AWipedPrefixStopsWrites) {
  ASSERT_NO_FATAL_FAILURE(Open());
  DeleteRaw("/registry/", "/registry0");
  const TxnReply reply = Commit(PutOf("a", "1"));
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_THAT(reply.error.message, HasSubstr("was removed"));
  EXPECT_EQ(RawRange("/registry/t/").size(), 0U);
}

TEST_F(OnFake, AnEtcdPutBackToABackupStopsEverything) {
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
  const int64_t backup = etcd_.Revision();
  EXPECT_EQ(Commit(PutOf("a", "2")).outcome, Outcome::kCommitted);
  EXPECT_EQ(Commit(PutOf("a", "3")).outcome, Outcome::kCommitted);
  etcd_.GoBackTo(backup);
  const auto read = GetNow(*engine_, Key("a"));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("restored from a backup"));
  EXPECT_EQ(Commit(PutOf("a", "4")).outcome, Outcome::kRefused);
  EXPECT_THAT(engine_->GetHealth().why, HasSubstr("must be opened again"));
  EXPECT_FALSE(ScanAll(*engine_, "/registry/"));
  EXPECT_FALSE(CurrentNow(*engine_));
  // After a restart, the engine continues from there.
  Close();
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(OnFake, TwoEnginesOnOnePrefixSeeEachOther) {
  ASSERT_NO_FATAL_FAILURE(Open());
  auto other_client = std::make_unique<testing::FakeClient>(etcd_, network_);
  const auto other = EtcdEngine::OpenOn(std::move(other_client), options_,
                                        contract::TestSlotCodec(), log_.Logger(), log_.Clock());
  ASSERT_TRUE(other) << other.error().message;
  const TxnReply mine = Commit(PutOf("a", "mine"));
  const TxnReply theirs = CommitNow(**other, PutOf("b", "theirs"));
  EXPECT_GT(theirs.puts.at(0), mine.puts.at(0));
  // A revision that the other engine returned works like one of this engine's.
  const TxnReply update = Commit({.compares = {{.key = Key("b"), .revision = theirs.puts[0]}},
                                  .puts = {{.key = Key("b"), .value = MakeValue("ours")}}});
  EXPECT_EQ(update.outcome, Outcome::kCommitted) << update.error.message;
  EXPECT_EQ(contract::Payload((*GetNow(**other, Key("b")))->value), "ours");
}

// --- Watches -------------------------------------------------------------------------------------

TEST_F(OnFake, AStreamThatBreaksGoesOnWhereItWas) {
  ASSERT_NO_FATAL_FAILURE(Open());
  WatchReader reader(*engine_, {.prefix = Key(""), .after = *CurrentNow(*engine_)});
  for (int i = 0; i < 60; ++i) {
    if (i % 7 == 3) client_->BreakWatches();
    ASSERT_EQ(Commit(PutOf(fmt::format("k{}", i % 5), std::to_string(i))).outcome,
              Outcome::kCommitted);
  }
  const auto events = reader.Next(60, Soon());
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 60U);
  for (size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(contract::Payload((*events)[i]->value), std::to_string(i));
    EXPECT_EQ((*events)[i]->previous.has_value(), i >= 5) << i;
  }
}

TEST_F(OnFake, WatchesStartOverWhenWhatTheyMissedIsCompacted) {
  ASSERT_NO_FATAL_FAILURE(Open());
  const Revision start = *CurrentNow(*engine_);
  WatchReader reader(*engine_, {.prefix = Key(""), .after = start});
  ASSERT_EQ(Commit(PutOf("a", "1")).outcome, Outcome::kCommitted);
  ASSERT_EQ(reader.Next(1, Soon())->size(), 1U);
  // Keys are written and compacted while there is no stream.
  client_->BreakWatches();
  for (int i = 0; i < 5; ++i) PutRaw(Key("a"), MakeValue(std::to_string(i)));
  ASSERT_TRUE(etcd_.Compact(etcd_.Revision()));
  const auto over = reader.Next(100, Soon());
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().reason, base::Reason::kExpired);
  // A watch from the current revision works.
  WatchReader again(*engine_, {.prefix = Key(""), .after = *CurrentNow(*engine_)});
  ASSERT_EQ(Commit(PutOf("a", "on")).outcome, Outcome::kCommitted);
  const auto events = again.Next(1, Soon());
  ASSERT_TRUE(events && events->size() == 1);
  EXPECT_EQ(contract::Payload((*events)[0]->value), "on");
}

TEST_F(OnFake, RevisionsNobodyCouldHaveGivenMakeWatchesStartOver) {
  ASSERT_NO_FATAL_FAILURE(Open());
  Txn many;
  for (int i = 0; i < 1500; ++i) {
    many.puts.push_back({.key = Key(fmt::format("{}", i)), .value = MakeValue("x")});
  }
  ASSERT_EQ(Commit(many).outcome, Outcome::kCommitted);
  for (Put& put : many.puts) put.key += "/more";
  ASSERT_EQ(Commit(many).outcome, Outcome::kCommitted);
  WatchReader reader(*engine_, {.prefix = Key(""), .after = *CurrentNow(*engine_)});
  ASSERT_TRUE(reader.UntilProgress(*CurrentNow(*engine_), Soon()));
  // This deletes three thousand keys in one revision.
  DeleteRaw(Key(""), PrefixEnd(Key("")));
  const auto over = reader.UntilProgress(*CurrentNow(*engine_), Soon());
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().reason, base::Reason::kExpired);
  EXPECT_TRUE(log_.Contains("another program wrote"));
  EXPECT_EQ(Items(), std::vector<Item>{});
}

TEST(Events, OldServersRepeatThemselves) {
  const Layout layout{.keys = KeyMap("/registry"),
                      .revisions = Revisions(Revision{}),
                      .slots = contract::TestSlotCodec()};
  pb::WatchResponse response;
  const auto put = [&](int64_t mod, const std::string& key, int slot) {
    pb::Event& event = *response.add_events();
    std::string value = MakeValue(key);
    layout.slots.write(key, value, slot);
    event.mutable_kv()->set_key(key);
    event.mutable_kv()->set_value(value);
    event.mutable_kv()->set_mod_revision(mod);
  };
  const auto remove = [&](int64_t mod, const std::string& key) {
    pb::Event& event = *response.add_events();
    event.set_type(pb::Event::DELETE);
    event.mutable_kv()->set_key(key);
    event.mutable_kv()->set_mod_revision(mod);
  };
  put(4, "/registry/seen", 0);
  put(5, "/registry/b", 1);
  put(5, "/registry/a", 0);
  put(5, "/registry/b", 1);  // A repeated event.
  remove(6, "/registry/z");
  remove(6, "/registry/y");
  remove(6, "/registry/z");
  put(5, "/registry/b", 1);  // An older event.
  put(7, "/registry/berth.io/tick", 0);
  const Decoded decoded = Decode(layout, response, 4);
  EXPECT_EQ(decoded.last, 7);
  EXPECT_TRUE(decoded.tick);
  EXPECT_FALSE(decoded.foreign);
  std::vector<std::string> told;
  for (const Event& event : decoded.events) {
    told.push_back(fmt::format("{}@{}", event.key, event.revision.value));
  }
  EXPECT_EQ(told, (std::vector<std::string>{"/registry/a@20480", "/registry/b@20481",
                                            "/registry/z@26624", "/registry/y@26625"}));
  put(8, "/registry/a", 3);
  put(8, "/registry/b", 3);
  EXPECT_TRUE(Decode(layout, response, 7).foreign);
}

// --- Leases --------------------------------------------------------------------------------------

TEST(LeaseTimes, WhatIsGrantedAndWhatIsLeft) {
  for (const auto& [ttl, slack] : {std::pair(1, 1),
                                   {2, 1},
                                   {39, 1},
                                   {40, 2},
                                   {100, 5},
                                   {1199, 59},
                                   {3600, 60},
                                   {1'000'000, 60}}) {
    EXPECT_EQ(Leases::Slack(seconds(ttl)), seconds(slack)) << ttl;
    // Right after the grant, etcd reports a fraction of a second less than was granted.
    EXPECT_EQ(Leases::Left(ttl + slack, ttl + slack - 1), seconds(ttl)) << ttl;
  }
  EXPECT_EQ(Leases::Left(105, 50), seconds(46));
  EXPECT_EQ(Leases::Left(105, 1), seconds(1));
  EXPECT_EQ(Leases::Left(105, -1), seconds(1));
}

class OnFakeWithTtl : public OnFake {
 protected:
  TxnReply PutFor(std::string_view name, seconds ttl) {
    Txn txn = PutOf(name, "brief");
    txn.puts[0].ttl = ttl;
    return Commit(txn);
  }
  int64_t LeaseOf(std::string_view name) { return RawRange(Key(name)).at(0).lease(); }
};

TEST_F(OnFakeWithTtl, KeysOfTheSameTtlShareALease) {
  ASSERT_NO_FATAL_FAILURE(Open());
  std::set<int64_t> leases;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(PutFor(fmt::format("hour{}", i), seconds(3600)).outcome, Outcome::kCommitted);
    leases.insert(LeaseOf(fmt::format("hour{}", i)));
  }
  EXPECT_EQ(leases.size(), 1U);
  EXPECT_EQ(etcd_.GrantedTtl(*leases.begin()), 3660);
  ASSERT_EQ(PutFor("two hours", seconds(7200)).outcome, Outcome::kCommitted);
  EXPECT_FALSE(leases.contains(LeaseOf("two hours")));
  // All keys are deleted at once when the time is up, each with its own revision.
  WatchReader reader(*engine_, {.prefix = Key("hour"), .after = *CurrentNow(*engine_)});
  etcd_.Expire(*leases.begin());
  engine_->RequestProgress();
  const auto events = reader.Next(20, Soon());
  ASSERT_TRUE(events && events->size() == 20);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ((*events)[i]->type, Event::Type::kDelete);
    EXPECT_TRUE(i == 0 || (*events)[i]->revision > (*events)[i - 1]->revision);
  }
}

TEST_F(OnFakeWithTtl, ALeaseTakesAThousandKeys) {
  ASSERT_NO_FATAL_FAILURE(Open());
  std::map<int64_t, int> keys;
  for (int i = 0; i < 5; ++i) {
    Txn txn;
    for (int n = 0; n < 400; ++n) {
      txn.puts.push_back(
          {.key = Key(fmt::format("{}/{}", i, n)), .value = MakeValue("x"), .ttl = seconds(3600)});
    }
    ASSERT_EQ(Commit(txn).outcome, Outcome::kCommitted);
    keys[LeaseOf(fmt::format("{}/0", i))] += 400;
  }
  for (const auto& [lease, count] : keys) EXPECT_LE(count, 1000);
  EXPECT_EQ(keys.size(), 3U);
}

TEST_F(OnFakeWithTtl, ALeaseThatIsGoneIsReplaced) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_EQ(PutFor("a", seconds(3600)).outcome, Outcome::kCommitted);
  const int64_t first = LeaseOf("a");
  etcd_.Expire(first);
  const TxnReply reply = PutFor("b", seconds(3600));
  ASSERT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
  EXPECT_NE(LeaseOf("b"), first);
}

TEST_F(OnFakeWithTtl, WithoutLeasesTheWriteIsRefused) {
  ASSERT_NO_FATAL_FAILURE(Open());
  network_.leases_fail = true;
  const TxnReply reply = PutFor("a", seconds(3600));
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_THAT(reply.error.message, HasSubstr("nothing listens there"));
  EXPECT_EQ(Commit(PutOf("b", "1")).outcome, Outcome::kCommitted);
}

// --- Periodic work -------------------------------------------------------------------------------

/// Runs the periodic parts by hand.
class ByHand : public testing::EngineRig {
 protected:
  const Layout layout_{.keys = KeyMap("/registry"),
                       .revisions = Revisions(Revision{}),
                       .slots = contract::TestSlotCodec()};
  KnownRevisions known_{16, 1};
  Status status_{log_.Logger()};
  TimeLine time_line_{layout_.keys, "me", "/registry/berth.io/fence/process/me/"};
  std::atomic<bool> stop_ = false;
  base::ManualClock clock_;
  testing::FakeClient own_client_{etcd_, network_};
  const Context context_{.client = own_client_,
                         .layout = layout_,
                         .known = known_,
                         .status = status_,
                         .time_line = time_line_,
                         .log = log_.Logger(),
                         .clock = clock_,
                         .stop = stop_};
};

TEST_F(ByHand, ProcessesShareTheDutyToCompact) {
  std::vector<Revision> first_told;
  std::vector<Revision> second_told;
  Compactor first(context_, [&](Revision upto) { first_told.push_back(upto); });
  Compactor second(context_, [&](Revision upto) { second_told.push_back(upto); });
  const auto work = [&] {
    for (int i = 0; i < 10; ++i) PutRaw("/registry/t/a", std::to_string(i));
  };
  first.Round();  // Learns the current revision.
  second.Round();
  const int64_t interval_ago = etcd_.Revision();
  EXPECT_EQ(etcd_.Compacted(), 0);
  work();
  first.Round();
  second.Round();
  // The state of one interval ago is kept, and earlier history is deleted; this happens once.
  EXPECT_EQ(etcd_.Compacted(), interval_ago);
  EXPECT_EQ(first_told, std::vector<Revision>{layout_.revisions.Head(interval_ago)});
  EXPECT_EQ(second_told, first_told);
  EXPECT_EQ(RawRange(OwnKey("compact")).at(0).value(), std::to_string(interval_ago));
  work();
  const int64_t before = etcd_.Compacted();
  second.Round();
  EXPECT_GT(etcd_.Compacted(), before);
  EXPECT_LT(etcd_.Compacted(), etcd_.Revision() - 10);
}

TEST_F(ByHand, AfterDeadProcessesOneTidiesUp) {
  const std::string dead = OwnKey("fence/process/dead");
  const std::string alive = OwnKey("fence/process/alive");
  const std::string own = OwnKey("fence/process/own");
  for (const std::string& key : {dead + "/0", dead + "/1", alive, alive + "/0", own + "/0"}) {
    PutRaw(key, "1");
  }
  Tidier tidier(context_, own);
  tidier.Round();
  EXPECT_EQ(RawRange(dead).size(), 2U);
  clock_.Advance(Tidier::kPatience - seconds(1));
  tidier.Round();
  EXPECT_EQ(RawRange(dead).size(), 2U);
  // A process whose epoch key reappears was not dead.
  PutRaw(OwnKey("fence/process/back/0"), "1");
  tidier.Round();
  PutRaw(OwnKey("fence/process/back"), "");
  clock_.Advance(seconds(2));
  tidier.Round();
  EXPECT_EQ(RawRange(dead).size(), 0U);
  EXPECT_EQ(RawRange(alive).size(), 2U);
  EXPECT_EQ(RawRange(own).size(), 1U);
  clock_.Advance(2 * Tidier::kPatience);
  tidier.Round();
  EXPECT_EQ(RawRange(OwnKey("fence/process/back")).size(), 2U);
}

}  // namespace
}  // namespace berth::store::etcd
