#include "linear/watcher.h"

#include <algorithm>
#include <utility>

namespace berth::linear {

Watcher::Watcher(store::Engine& engine, std::string prefix, std::string name, store::Revision after,
                 std::function<std::string(std::string_view)> decode, uint64_t seed)
    : engine_(engine),
      prefix_(std::move(prefix)),
      decode_(std::move(decode)),
      random_(seed),
      record_{.name = std::move(name), .after = after, .upto = after},
      thread_([this] { Run(); }) {}

Watcher::~Watcher() {
  if (thread_.joinable()) Finish({}, std::chrono::steady_clock::now());
}

WatchRecord Watcher::Finish(store::Revision upto, std::chrono::steady_clock::time_point deadline) {
  {
    const base::MutexLock lock(mutex_);
    finishing_ = true;
    target_ = upto;
    deadline_ = deadline;
    wake_.NotifyOne();
  }
  thread_.join();
  return std::move(record_);
}

void Watcher::Run() {
  while (!Follow()) {
    constexpr std::chrono::milliseconds kBetweenWatches{20};
    std::this_thread::sleep_for(kBetweenWatches);
  }
}

bool Watcher::Follow() {
  const auto watch = engine_.Follow(record_.upto, [this] { OnWake(); });
  while (!Enough()) {
    constexpr uint64_t kMostEvents = 20;
    const auto batch = watch->Poll(1 + base::Uniform(random_, kMostEvents));
    if (!batch) {
      if (batch.error().reason != base::Reason::kExpired) return Enough();
      record_.error = batch.error().message;
      return true;
    }
    Take(*batch);
    if (batch->events.empty()) WaitForWake();
  }
  return true;
}

void Watcher::Take(const store::WatchBatch& batch) {
  for (const store::EventPtr& event : batch.events) {
    if (!event->key.starts_with(prefix_)) continue;
    record_.events.push_back(*event);
    record_.upto = std::max(record_.upto, event->revision);
    if (!decode_) continue;
    store::Event& taken = record_.events.back();
    if (taken.type == store::Event::Type::kPut) taken.value = decode_(taken.value);
    if (taken.previous) taken.previous->value = decode_(taken.previous->value);
  }
  record_.upto = std::max(record_.upto, batch.progress);
}

bool Watcher::Enough() {
  const base::MutexLock lock(mutex_);
  if (!finishing_) return false;
  return record_.upto >= target_ || std::chrono::steady_clock::now() >= deadline_;
}

/// Waits for a limited time, because the end may have come, and an engine may need a progress
/// request.
void Watcher::WaitForWake() {
  constexpr std::chrono::milliseconds kLongest{100};
  bool finishing = false;
  {
    base::MutexLock lock(mutex_);
    if (!woken_) wake_.WaitFor(mutex_, kLongest);
    woken_ = false;
    finishing = finishing_;
  }
  if (finishing) engine_.RequestProgress();
}

void Watcher::OnWake() {
  const base::MutexLock lock(mutex_);
  woken_ = true;
  wake_.NotifyOne();
}

}  // namespace berth::linear
