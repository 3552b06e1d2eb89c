// Many threads that want more values than there are. No value has two owners, and every write is
// answered.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/ledger/testing/records.h"
#include "base/mutex.h"
#include "base/testing/base_kit.h"
#include "commit/sequencer.h"
#include "commit/testing/sequencer_fixture.h"
#include "state/follower.h"
#include "state/testing/test_store.h"

namespace berth::allocation {
namespace {

using testing::NameOf;
using testing::RecordKey;

constexpr size_t kAllocatingThreads = 12;
/// A write that waits longer was forgotten.
constexpr std::chrono::seconds kPatience{60};

std::vector<PoolValue> ValuesOf(const Grant& grant) {
  std::vector<PoolValue> values;
  for (const TakenValue& take : grant.takes) values.push_back(take.value);
  return values;
}

/// A callback that a thread can wait for.
class Bell {
 public:
  std::function<void()> Ringer() {
    return [promise = promise_] { promise->set_value(); };
  }
  bool Await() { return promise_->get_future().wait_for(kPatience) == std::future_status::ready; }

 private:
  const std::shared_ptr<std::promise<void>> promise_ = std::make_shared<std::promise<void>>();
};

/// A store and its follower as the ledger sees them: one thread applies writes one after the other
/// and ends their grants.
class FakeStore {
 public:
  explicit FakeStore(Ledger& ledger) : ledger_(ledger), thread_([this] { Work(); }) {}
  ~FakeStore() {
    {
      base::MutexLock lock(mutex_);
      ended_ = true;
      wake_.NotifyOne();
    }
    thread_.join();
  }
  FakeStore(const FakeStore&) = delete;
  FakeStore& operator=(const FakeStore&) = delete;

  /// Calls `freed` just before the values that the write releases become free.
  void Commit(Grant grant, std::function<void()> freed, std::function<void()> done) {
    base::MutexLock lock(mutex_);
    writes_.push_back({std::move(grant), std::move(freed), std::move(done)});
    wake_.NotifyOne();
  }
  void Put(const std::string& name) { Apply({Change(name, true)}); }

 private:
  struct Write {
    Grant grant;
    std::function<void()> freed;
    std::function<void()> done;
  };

  void Work() {
    for (;;) {
      std::optional<Write> write;
      {
        base::MutexLock lock(mutex_);
        while (writes_.empty() && !ended_) wake_.Wait(mutex_);
        if (writes_.empty()) return;
        write = std::move(writes_.front());
        writes_.pop_front();
      }
      write->freed();
      std::vector<state::Change> changes;
      for (const TakenValue& take : write->grant.takes) {
        changes.push_back(Change(NameOf(take.value), true));
      }
      for (const ReleasedValue& release : write->grant.releases) {
        changes.push_back(Change(NameOf(release.value), false));
      }
      Apply(changes);
      ledger_.EndGrant(write->grant);
      write->done();
    }
  }
  state::Change Change(const std::string& name, bool put) {
    const std::string key = RecordKey(name);
    auto object = state::Object::Make(*resources_.Find(key), ++revision_, state::testing::Wire(""));
    if (put) return {.revision = revision_, .object = std::move(object)};
    return {.revision = revision_, .previous = std::move(object)};
  }
  void Apply(const std::vector<state::Change>& changes) { ledger_.OnBatch(changes, revision_); }

  Ledger& ledger_;
  const state::Resources resources_ = state::testing::MakeResources();
  int64_t revision_ = 0;
  base::Mutex mutex_;
  base::CondVar wake_;
  std::deque<Write> writes_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

/// The owner of each value, as the clients see it.
class Owners {
 public:
  /// Returns whether none of the values had an owner.
  bool Take(const std::vector<PoolValue>& values) { return Change(values, 1) == 0; }
  void Drop(const std::vector<PoolValue>& values) { Change(values, -1); }

 private:
  int Change(const std::vector<PoolValue>& values, int by) {
    int before = 0;
    for (const PoolValue& value : values) {
      const size_t place =
          static_cast<size_t>(value.value & 15) + (value.pool == PoolId::kIpv6 ? size_t{16} : 0);
      before += counts_[place].fetch_add(by);
    }
    return before;
  }
  std::array<std::atomic<int>, 32> counts_ = {};
};

/// The clients of one thread, one after the other.
class Client {
 public:
  /// Some claims for IPv4 name one of these ranges.
  Client(Ledger& ledger, FakeStore& store, Owners& owners, const std::vector<std::string>& ranges,
         uint64_t seed)
      : ledger_(ledger), store_(store), owners_(owners), ranges_(ranges), random_(seed) {}

  /// Takes values, keeps them for a while and releases them. Returns what was wrong, or "".
  std::string Run() {
    auto grant = Get(SomeClaims());
    if (!forgotten_.empty() || !grant) return forgotten_;
    const std::vector<PoolValue> taken = ValuesOf(*grant);
    if (!owners_.Take(taken)) return "a value was given to two";
    if (base::Uniform(random_, 4) == 0) {  // The write has failed.
      owners_.Drop(taken);
      ledger_.EndGrant(*grant);
      return "";
    }
    if (!Commit(*grant, [] {})) return "nobody commits";
    TicketPtr ticket;
    auto going = ledger_.GrantClaims({}, {}, taken, ticket);
    if (!going) return "giving back was refused";
    return Commit(*going, [&] { owners_.Drop(taken); }) ? "" : "nobody commits";
  }
  int refused() const { return refused_; }

 private:
  std::vector<Claim> SomeClaims() {
    std::vector<Claim> claims;
    const size_t count = 1 + base::Uniform(random_, 3);
    for (size_t i = 0; i < count; ++i) {
      Claim& claim = claims.emplace_back();
      if (base::Uniform(random_, 3) == 0) claim.pool = PoolId::kIpv6;
      if (claim.pool == PoolId::kIpv4 && !ranges_.empty() && base::Uniform(random_, 2) == 0) {
        claim.range = ranges_[base::Uniform(random_, ranges_.size())];
      }
      if (i > 0 || base::Uniform(random_, 4) != 0) continue;
      const std::string base = claim.pool == PoolId::kIpv6 ? "fd00::" : "10.0.0.";
      claim.wanted = ip::ParseAddr(base + std::to_string(1 + base::Uniform(random_, 6)))->bits();
    }
    return claims;
  }

  /// Returns nullopt if the denial is final, or if the write was forgotten.
  std::optional<Grant> Get(const std::vector<Claim>& claims) {
    TicketPtr ticket;
    for (;;) {
      auto grant = ledger_.GrantClaims({}, claims, {}, ticket);
      if (grant) return *std::move(grant);
      if (!grant.error().wait) {
        ++refused_;
        return std::nullopt;
      }
      Bell bell;
      if (!grant.error().wait(bell.Ringer())) continue;
      if (!bell.Await()) {
        forgotten_ = "somebody waits and is not told";
        return std::nullopt;
      }
    }
  }

  bool Commit(const Grant& grant, std::function<void()> freed) {
    Bell bell;
    store_.Commit(grant, std::move(freed), bell.Ringer());
    return bell.Await();
  }

  Ledger& ledger_;
  FakeStore& store_;
  Owners& owners_;
  const std::vector<std::string>& ranges_;
  base::SeededRandom random_;
  std::string forgotten_;
  int refused_ = 0;
};

U128 Free(const Ledger& ledger) {
  U128 free = 0;
  for (const auto& range : LedgerView(ledger).Ranges()) {
    free += range.in_static[alloc::State::kFree] + range.in_dynamic[alloc::State::kFree];
  }
  return free;
}

/// Runs clients on ranges of at most 16 values with different last digits. Claims name ranges of
/// `named`.
void RunClients(const std::vector<std::string>& ranges, const std::vector<std::string>& named) {
  Ledger ledger(testing::Reader(), base::SeededRandom(1));
  FakeStore store(ledger);
  for (const std::string& range : ranges) store.Put(range);
  const U128 all = Free(ledger);
  Owners owners;
  const int64_t rounds = base::LongCount(5000);
  std::array<std::string, kAllocatingThreads> wrong;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kAllocatingThreads; ++i) {
    threads.emplace_back([&, i] {
      Client client(ledger, store, owners, named, 100 + i);
      for (int64_t round = 0; round < rounds && wrong[i].empty(); ++round) wrong[i] = client.Run();
      refused += client.refused();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : wrong) EXPECT_EQ(each, "");
  EXPECT_EQ(Free(ledger), all);
  EXPECT_GT(refused, 0) << "of values that others keep, some are refused";
}

TEST(LedgerThreadsTest, NoValueIsHadByTwoAndNobodyIsForgotten) {
  RunClients({"r10.0.0.0_29", "rfd00::_125"}, {});
}

TEST(LedgerThreadsTest, NorInRangesThatAreNamedAndOverlap) {
  RunClients({"r10.0.0.0_29", "r10.0.0.8_30", "r10.0.0.0_30", "rfd00::_125"},
             {"10.0.0.0/29", "10.0.0.8/30", "10.0.0.0/30"});
}

/// Clients of the whole write path, whose transforms take values.
class LedgerWritersTest : public ::testing::Test {
 protected:
  LedgerWritersTest() {
    store_.OpenForThreads();
    store_.Put(RecordKey("r10.0.0.0_29"), state::testing::Stored(""));
    follower_ = std::make_unique<state::Follower>(
        *store_.engine, store_.resources, std::vector<state::Listener*>{&ledger_},
        state::FollowerOptions(), store_.system_clock, store_.log);
    follower_->Start();
    EXPECT_TRUE(follower_->WaitReady(kPatience));
    sequencer_ = std::make_unique<commit::Sequencer>(
        commit::SequencerParts{*store_.engine, *follower_, store_.resources, store_.system_clock,
                               *follower_},
        commit::SequencerOptions());
  }

  /// Returns the first word of the outcome.
  std::string Run(const std::string& key, commit::Transform transform) {
    const auto answer = std::make_shared<std::promise<std::string>>();
    auto text = answer->get_future();
    sequencer_->Submit({.key = key, .transform = std::move(transform)},
                       [answer](const base::Result<commit::Written>& written) {
                         answer->set_value(commit::testing::Text(written));
                       });
    if (text.wait_for(kPatience) != std::future_status::ready) return "nobody answers";
    const std::string whole = text.get();
    return whole.substr(0, whole.find(' '));
  }

  commit::Decided Decide(commit::Decision decision, const tl::expected<Grant, Denial>& grant) {
    if (!grant) {
      return tl::unexpected(commit::Refusal(
          {.reason = base::Reason::kInternalError, .message = "full"}, grant.error().wait));
    }
    for (const TakenValue& take : grant->takes) {
      decision.puts.push_back({.key = RecordKey(NameOf(take.value)),
                               .stored = state::testing::Stored(""),
                               .expected = 0});
    }
    for (const ReleasedValue& release : grant->releases) {
      decision.deletes.push_back({.key = RecordKey(NameOf(release.value))});
    }
    decision.on_outcome = [this, settled = *grant](bool) { ledger_.EndGrant(settled); };
    return decision;
  }

  /// Creates an object with so many values, and deletes it. Returns whether it was created.
  bool MakeAndDelete(const std::string& key, size_t values) {
    const auto ticket = std::make_shared<TicketPtr>();
    const auto taken = std::make_shared<std::vector<PoolValue>>();
    const std::string made = Run(key, [=, this](const state::Snapshot&, const state::ObjectPtr&) {
      auto grant = ledger_.GrantClaims({}, std::vector<Claim>(values), {}, *ticket);
      if (grant) *taken = ValuesOf(*grant);
      return Decide(commit::testing::PutOf("x"), grant);
    });
    if (made == "InternalError") return false;  // Full.
    EXPECT_EQ(made, "created");
    const std::string gone = Run(key, [=, this](const state::Snapshot&, const state::ObjectPtr&) {
      return Decide({.kind = commit::Decision::Kind::kDelete},
                    ledger_.GrantClaims({}, {}, *taken, *ticket));
    });
    EXPECT_EQ(gone, "deleted");
    return true;
  }

  state::testing::TestStore store_;
  Ledger ledger_{testing::Reader(), base::SeededRandom(1)};
  std::unique_ptr<state::Follower> follower_;
  std::unique_ptr<commit::Sequencer> sequencer_;
};

/// Each write takes one or two values of six.
TEST_F(LedgerWritersTest, NeverMeetInTheStoreAndAreAllAnswered) {
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kAllocatingThreads; ++i) {
    threads.emplace_back([this, i, &made] {
      const std::string key = state::testing::ServiceKey("n", std::to_string(i));
      for (int64_t round = 0; round < base::LongCount(1000); ++round) {
        made += MakeAndDelete(key, 1 + i % 2) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(made, 100);
  EXPECT_EQ(sequencer_->GetStats().conflicts, 0U) << "a value was handed out while it was taken";
  EXPECT_EQ(Free(ledger_), U128{6});
}

}  // namespace
}  // namespace berth::allocation
