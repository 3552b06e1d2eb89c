// The store contract for callers that may wait: tools, tests, start-up. Each function makes the
// call and waits for its reply. They must not be called from a reply or a wake callback, since the
// engine could not go on. They must not be called either on an engine whose replies only the caller
// itself can release (MemoryEngine with Fault::kHold).
//
// Threads: the functions may be called from any thread. A WatchReader belongs to one thread at a
// time.
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

/// A value that another thread, or this one, is going to provide.
template <typename T>
class Awaited {
 public:
  /// Returns a function that provides the value. It must be called once and may outlive the
  /// Awaited.
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

/// Reads page after page, all at the revision of the first, and calls `each` with every page.
/// `each` may move the entries out. Stops at the first error and returns it; otherwise returns the
/// revision.
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

/// Returns all entries of a prefix at revision `at` as one page. 0 means the present. Everything is
/// held in memory.
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

struct WatchRequest {
  std::string prefix = {};
  Revision after = {};
};

/// Follows an engine and returns the events of a prefix. Its reader waits for them.
class WatchReader {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  static constexpr size_t kBatch = 1000;

  /// `engine` must outlive it.
  WatchReader(Engine& engine, WatchRequest request)
      : engine_(engine),
        prefix_(std::move(request.prefix)),
        watch_(engine.Follow(request.after, [this] { OnWake(); })) {}

  /// Returns the next `count` events in order, as soon as there are that many. At the deadline,
  /// returns the events that have come by then.
  base::Result<std::vector<EventPtr>> Next(size_t count, Deadline deadline) {
    std::vector<EventPtr> events;
    while (events.size() < count) {
      base::Result<bool> some = Take(count - events.size(), events);
      if (!some) return tl::unexpected(some.error());
      if (!*some && !WaitForWake(deadline)) break;
    }
    return events;
  }

  /// Asks the engine for progress and returns every event until progress has reached `revision`.
  /// Returns kTimeout if the deadline passes first. The events that had come by then are lost.
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

  /// Returns the progress as of the last events that were read.
  Revision Progress() const { return progress_; }

  /// Returns how often the engine has called `wake`.
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

  /// Polls once. Returns whether events came, of the prefix or of other keys.
  base::Result<bool> Take(size_t max, std::vector<EventPtr>& events) {
    {
      base::MutexLock lock(mutex_);
      woken_ = false;
    }
    base::Result<WatchBatch> batch = watch_->Poll(max);
    if (!batch) return tl::unexpected(batch.error());
    progress_ = batch->progress;
    std::copy_if(batch->events.begin(), batch->events.end(), std::back_inserter(events),
                 [this](const EventPtr& event) { return event->key.starts_with(prefix_); });
    return !batch->events.empty();
  }

  /// Waits for a wake. Returns false if the deadline passed first.
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
  const std::string prefix_;
  Revision progress_;

  mutable base::Mutex mutex_;
  base::CondVar wake_;
  bool woken_ GUARDED_BY(mutex_) = false;
  size_t wakes_ GUARDED_BY(mutex_) = 0;

  /// Declared last and so destroyed first, because OnWake uses the members above.
  const std::unique_ptr<Watch> watch_;
};

}  // namespace berth::store
