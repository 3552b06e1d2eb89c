// The store contract for callers that may wait: tools, tests, start-up. Each function makes the
// call and waits for its reply. Never to be called where a reply or a wake comes (the engine could
// not go on), nor on an engine whose replies only the caller itself can let go.
//
// Threads: the functions may be called from any thread; a WatchReader belongs to one at a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/engine.h"

namespace berth::store {

/// One value that another thread, or this one, is going to provide.
template <typename T>
class Awaited {
 public:
  /// To be called once; may outlive the Awaited.
  std::function<void(T)> Setter() {
    return [slot = slot_](T value) {
      base::MutexLock lock(slot->mutex);
      slot->value.emplace(std::move(value));
      slot->set.NotifyOne();
    };
  }

  T Wait() {
    base::MutexLock lock(slot_->mutex);
    while (!slot_->value) slot_->set.Wait(slot_->mutex);
    return std::move(*slot_->value);
  }

 private:
  struct Slot {
    base::Mutex mutex;
    base::CondVar set;
    std::optional<T> value GUARDED_BY(mutex);
  };
  const std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
};

inline base::Result<std::optional<Entry>> GetNow(Engine& engine, std::string key) {
  Awaited<base::Result<std::optional<Entry>>> reply;
  engine.Get(std::move(key), reply.Setter());
  return reply.Wait();
}

inline base::Result<ScanPage> ScanPageNow(Engine& engine, ScanRequest request) {
  Awaited<base::Result<ScanPage>> reply;
  engine.Scan(std::move(request), reply.Setter());
  return reply.Wait();
}

/// Page after page, all at the revision of the first. `each` is called with every page that has
/// come; it may take the entries out. Stops at the first error and returns it, or the revision.
template <typename Each>
base::Result<Revision> ScanPages(Engine& engine, ScanRequest request, Each&& each) {
  for (;;) {
    base::Result<ScanPage> page = ScanPageNow(engine, request);
    if (!page) return tl::unexpected(page.error());
    request.at = page->at;
    if (page->more) request.after = page->entries.back().key;
    const bool more = page->more;
    each(*page);
    if (!more) return request.at;
  }
}

/// All of a prefix at one revision, as one page; 0: as it is now. For what fits into memory.
inline base::Result<ScanPage> ScanAll(Engine& engine, std::string prefix, Revision at = {}) {
  ScanPage all;
  const auto revision =
      ScanPages(engine, ScanRequest{.prefix = std::move(prefix), .at = at}, [&all](ScanPage& page) {
        std::move(page.entries.begin(), page.entries.end(), std::back_inserter(all.entries));
      });
  if (!revision) return tl::unexpected(revision.error());
  all.at = *revision;
  return all;
}

inline TxnReply CommitNow(Engine& engine, Txn txn) {
  Awaited<TxnReply> reply;
  engine.Commit(std::move(txn), reply.Setter());
  return reply.Wait();
}

inline base::Result<Revision> CurrentNow(Engine& engine) {
  Awaited<base::Result<Revision>> reply;
  engine.Current(reply.Setter());
  return reply.Wait();
}

inline base::Result<void> CompactNow(Engine& engine, Revision upto) {
  Awaited<base::Result<void>> reply;
  engine.Compact(upto, reply.Setter());
  return reply.Wait();
}

/// A watch that is read by waiting for it.
class WatchReader {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  static constexpr size_t kBatch = 1000;

  /// `engine` must outlive it.
  WatchReader(Engine& engine, WatchRequest request)
      : engine_(engine), watch_(engine.StartWatch(std::move(request), [this] { OnWake(); })) {}

  /// The next events, in order: as soon as there are `count`, or what there is at the deadline.
  base::Result<std::vector<EventPtr>> Next(size_t count, Deadline deadline) {
    std::vector<EventPtr> events;
    while (events.size() < count) {
      base::Result<bool> some = Take(count - events.size(), events);
      if (!some) return tl::unexpected(some.error());
      if (!*some && !WaitForWake(deadline)) break;
    }
    return events;
  }

  /// Every event until progress has reached `revision`, for which it asks the engine; kTimeout when
  /// that takes longer than the deadline (the events that came are lost then).
  base::Result<std::vector<EventPtr>> UntilProgress(Revision revision, Deadline deadline) {
    std::vector<EventPtr> events;
    bool asked = false;
    for (;;) {
      base::Result<bool> some = Take(kBatch, events);
      if (!some) return tl::unexpected(some.error());
      if (progress_ >= revision) return events;
      if (*some) continue;
      if (!std::exchange(asked, true)) engine_.RequestProgress();
      if (!WaitForWake(deadline)) {
        return base::Fail(base::Reason::kTimeout,
                          "the watch did not reach revision " + std::to_string(revision.value) +
                              " in time; it is at " + std::to_string(progress_.value));
      }
    }
  }

  /// As of the last events that were read.
  Revision Progress() const { return progress_; }

  /// How often the engine has called for a poll.
  size_t Wakes() const {
    base::MutexLock lock(mutex_);
    return wakes_;
  }

 private:
  void OnWake() {
    base::MutexLock lock(mutex_);
    ++wakes_;
    woken_ = true;
    wake_.NotifyOne();
  }

  /// Polls once; whether events came.
  base::Result<bool> Take(size_t max, std::vector<EventPtr>& events) {
    {
      base::MutexLock lock(mutex_);
      woken_ = false;
    }
    base::Result<WatchBatch> batch = watch_->Poll(max);
    if (!batch) return tl::unexpected(batch.error());
    progress_ = batch->progress;
    std::move(batch->events.begin(), batch->events.end(), std::back_inserter(events));
    return !batch->events.empty();
  }

  /// False when the deadline passed first.
  bool WaitForWake(Deadline deadline) {
    base::MutexLock lock(mutex_);
    while (!woken_) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= std::chrono::nanoseconds{0}) return false;
      wake_.WaitFor(mutex_, left);
    }
    return true;
  }

  Engine& engine_;
  Revision progress_;

  mutable base::Mutex mutex_;
  base::CondVar wake_;
  bool woken_ GUARDED_BY(mutex_) = false;
  size_t wakes_ GUARDED_BY(mutex_) = 0;

  const std::unique_ptr<Watch> watch_;  // Last: destroyed first, and then nobody calls OnWake.
};

}  // namespace berth::store
