// Measures a thousand cursors of one scope while five thousand events are committed to the embedded
// engine and followed: events delivered per second, and memory per cursor. Compares that with
// passing the same events to as many plain lists. Usage: watch_bench DIRECTORY. Prints one line of
// JSON per figure.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "driver.h"
#include "state/follower.h"
#include "state/testing/objects.h"
#include "store/rocks/rocks_engine.h"
#include "watch/cursor.h"
#include "watch/hub.h"

namespace berth::bench {
namespace {

using std::chrono::steady_clock;

constexpr size_t kWatchers = 1000;
constexpr size_t kEvents = 5000;
constexpr size_t kPerPoll = 256;
constexpr size_t kPerTxn = 10;

/// Cursors of one scope that share a waker, read by one thread.
class Readers {
 public:
  Readers(watch::Hub& hub, const state::Resources& resources) {
    const watch::Waker waker = std::make_shared<const std::function<void()>>([this] { Wake(); });
    const watch::Scope scope{.resource = state::testing::kServices,
                             .key = resources.Prefix(state::testing::kServices)};
    slots_.resize(kWatchers);
    for (Slot& slot : slots_) {
      slot.last = hub.Head();
      slot.cursor = std::make_unique<watch::Cursor>(hub, scope, slot.last, waker);
    }
  }

  /// Reads until every cursor has seen every event, each in order.
  void Run() {
    size_t finished = 0;
    while (finished < kWatchers) {
      for (Slot& slot : slots_) {
        if (slot.seen < kEvents && Read(slot)) ++finished;
      }
      base::MutexLock lock(mutex_);
      while (!woken_ && finished < kWatchers) ready_.Wait(mutex_);
      woken_ = false;
    }
  }

 private:
  struct Slot {
    std::unique_ptr<watch::Cursor> cursor;
    int64_t last = 0;
    size_t seen = 0;
  };

  void Wake() {
    base::MutexLock lock(mutex_);
    woken_ = true;
    ready_.NotifyOne();
  }

  /// Reads from one cursor. Returns true if the cursor has just seen its last event.
  static bool Read(Slot& slot) {
    for (bool caught_up = false; !caught_up;) {
      const auto reached = slot.cursor->Read(kPerPoll, [&slot](const watch::EventPtr& event) {
        if (event->Revision() <= slot.last) std::abort();
        slot.last = event->Revision();
        ++slot.seen;
      });
      if (!reached) std::abort();
      caught_up = reached->caught_up;
    }
    return slot.seen == kEvents;
  }

  std::vector<Slot> slots_;
  base::Mutex mutex_;
  base::CondVar ready_;
  bool woken_ GUARDED_BY(mutex_) = false;
};

void Write(store::Engine& engine) {
  std::atomic<size_t> under_way = kEvents / kPerTxn;
  for (size_t i = 0; i < kEvents; i += kPerTxn) {
    store::Txn txn;
    for (size_t j = 0; j < kPerTxn; ++j) {
      txn.puts.push_back(
          {.key = state::testing::ServiceKey("shop", fmt::format("cart-{:08}", i + j)),
           .value = state::testing::Stored(std::string(500, 's'))});
    }
    engine.Commit(std::move(txn), [&](const store::TxnReply& reply) {
      if (reply.outcome != store::Outcome::kCommitted) std::abort();
      --under_way;
    });
  }
  while (under_way > 0) std::this_thread::yield();
}

double BareSeconds() {
  std::vector<store::EventPtr> events;
  for (size_t i = 0; i < kEvents; ++i) events.push_back(std::make_shared<store::Event>());
  const auto begin = steady_clock::now();
  for (size_t i = 0; i < kWatchers; ++i) {
    for (size_t from = 0; from < kEvents; from += kPerPoll) {
      const std::vector<store::EventPtr> batch(
          events.begin() + static_cast<ptrdiff_t>(from),
          events.begin() + static_cast<ptrdiff_t>(std::min(from + kPerPoll, kEvents)));
      if (batch.empty()) std::abort();
    }
  }
  return SecondsSince(begin);
}

void Run(const std::string& directory) {
  const base::SystemClock clock;
  base::Logger log({.minimum = base::LogLevel::kWarn}, clock);
  const auto engine = OrDie(store::rocks::RocksEngine::Open({.directory = directory}, log, clock));
  const state::Resources resources = state::testing::MakeResources();
  const state::Past past(*engine, resources);
  watch::Hub hub(past, resources, {});
  state::Follower follower(*engine, resources, {&hub}, {}, clock, log);
  follower.Start();
  if (!follower.WaitReady(std::chrono::seconds(60))) std::abort();
  const size_t before = mallinfo2().uordblks;
  Readers readers(hub, resources);
  const double per_watcher = static_cast<double>(mallinfo2().uordblks - before) / kWatchers;
  const auto begin = steady_clock::now();
  std::thread writer([&] { Write(*engine); });
  readers.Run();
  const double seconds = SecondsSince(begin);
  writer.join();
  constexpr double kDelivered = static_cast<double>(kWatchers * kEvents);
  fmt::print("{{\"name\":\"berth/fan-out\",\"per_second\":{:.0f},\"bytes_per_watcher\":{:.0f}}}\n",
             kDelivered / seconds, per_watcher);
  fmt::print("{{\"name\":\"bare/fan-out\",\"per_second\":{:.0f}}}\n", kDelivered / BareSeconds());
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  berth::bench::Run(argv[1]);
}
