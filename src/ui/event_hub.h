// Tells any number of open pages what is new, as Server-Sent Events.
//
// A stream is a position, not a queue: it knows which view its client has seen. A client that keeps
// up gets each step from one view to the next. One that does not gets the newest view alone, sees
// by its number that it has missed some, and loads everything anew. So a slow client costs nothing.
//
//   hub.PublishView(7, step, whole);   // Any thread.
//   auto source = hub.Open("jane", [session] { return session->IsOpen(); });
//
// Threads: any. The hub must outlive the server that pulls its streams.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "http/source.h"

namespace berth::ui {

/// Returns an event as it is sent. `data` may have several lines.
std::string EventText(std::string_view name, std::string_view data);

struct EventHubOptions {
  size_t streams = 500;
  size_t streams_of_owner = 200;
  std::chrono::nanoseconds comment_every = std::chrono::seconds(15);
};

class EventHub {
 public:
  /// The clock must outlive the hub.
  explicit EventHub(const base::Clock& clock, EventHubOptions options = {});
  ~EventHub();
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;

  /// Replaces the newest view. `number` is one more than that of the view before. `step` is the
  /// event for clients that have seen the one before, and `whole` that for all others.
  void PublishView(uint64_t number, std::string step, std::string whole) EXCLUDES(mutex_);
  /// Replaces the event that says how the server is doing. New streams get it if it is not empty.
  /// `change` is for streams that have begun.
  void PublishState(std::string state, std::string change) EXCLUDES(mutex_);

  /// Begins a stream. `is_open` is asked before each event; the stream ends when it returns false.
  /// It must not block. Fails with kTooManyRequests beyond a limit.
  base::Result<std::unique_ptr<http::Source>> Open(const std::string& owner,
                                                   std::function<bool()> is_open) EXCLUDES(mutex_);

  /// Lets all streams ask whether they are still open.
  void Wake() { signal_.Notify(); }

  size_t streams() const EXCLUDES(mutex_);

 private:
  class Stream;

  /// What streams send. Never changes.
  struct News {
    uint64_t view = 0;
    uint64_t state = 0;
    std::shared_ptr<const std::string> step;
    std::shared_ptr<const std::string> whole;
    std::shared_ptr<const std::string> state_text;    ///< For new streams; may be empty.
    std::shared_ptr<const std::string> state_change;  ///< For streams that have begun.
  };

  std::shared_ptr<const News> Newest() const EXCLUDES(mutex_);
  void Closed(const std::string& owner) EXCLUDES(mutex_);

  const base::Clock& clock_;
  const EventHubOptions options_;
  http::Signal signal_;
  mutable base::Mutex mutex_;
  std::shared_ptr<const News> news_ GUARDED_BY(mutex_);
  size_t streams_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, size_t> owners_ GUARDED_BY(mutex_);
};

}  // namespace berth::ui
