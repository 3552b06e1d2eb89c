// A thousand watches on one prefix while five thousand events are committed to the embedded engine:
// events delivered a second and memory a watch, beside handing the same events to as many plain
// lists. Usage: watch_bench DIRECTORY; prints one line of JSON per figure.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "driver.h"
#include "store/blocking.h"
#include "store/rocks/rocks_engine.h"

namespace berth::bench {
namespace {

using std::chrono::steady_clock;

constexpr size_t kWatchers = 1000;
constexpr size_t kEvents = 5000;
constexpr size_t kPerPoll = 256;
constexpr size_t kPerTxn = 10;

/// Watches that were woken, polled by one thread.
class Readers {
 public:
  Readers(store::Engine& engine, store::Revision after) : after_(after) {
    slots_.resize(kWatchers);
    for (size_t i = 0; i < kWatchers; ++i) {
      slots_[i].watch = engine.StartWatch({.prefix = "/registry/services/", .after = after},
                                          [this, i] { Wake(i); });
    }
    for (size_t i = 0; i < kWatchers; ++i) Wake(i);
  }

  /// Polls until every watch has seen every event, each in order.
  void Run() {
    std::vector<size_t> woken;
    size_t finished = 0;
    while (finished < kWatchers) {
      {
        base::MutexLock lock(mutex_);
        while (woken_.empty()) ready_.Wait(mutex_);
        woken.swap(woken_);
      }
      for (const size_t i : woken) {
        if (Poll(slots_[i])) ++finished;
      }
      woken.clear();
    }
  }

 private:
  struct Slot {
    std::unique_ptr<store::Watch> watch;
    store::Revision last;
    size_t seen = 0;
  };

  void Wake(size_t i) {
    base::MutexLock lock(mutex_);
    woken_.push_back(i);
    ready_.NotifyOne();
  }

  /// True when this watch has just seen its last event.
  bool Poll(Slot& slot) {
    while (true) {
      auto batch = slot.watch->Poll(kPerPoll);
      if (!batch) std::abort();
      if (batch->events.empty()) return false;
      for (const store::EventPtr& event : batch->events) {
        if (event->revision <= std::max(slot.last, after_)) std::abort();
        slot.last = event->revision;
      }
      slot.seen += batch->events.size();
      if (slot.seen == kEvents) {
        (void)slot.watch->Poll(kPerPoll);
        return true;
      }
    }
  }

  const store::Revision after_;
  std::vector<Slot> slots_;
  base::Mutex mutex_;
  base::CondVar ready_;
  std::vector<size_t> woken_ GUARDED_BY(mutex_);
};

void Write(store::Engine& engine) {
  std::atomic<size_t> under_way = kEvents / kPerTxn;
  for (size_t i = 0; i < kEvents; i += kPerTxn) {
    store::Txn txn;
    for (size_t j = 0; j < kPerTxn; ++j) {
      txn.puts.push_back({.key = fmt::format("/registry/services/specs/shop/cart-{:08}", i + j),
                          .value = std::string(500, 's')});
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
  const store::Revision now = *store::CurrentNow(*engine);
  const size_t before = mallinfo2().uordblks;
  Readers readers(*engine, now);
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
