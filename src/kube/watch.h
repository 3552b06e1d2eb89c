// Follows all objects of a kind for as long as the program runs: lists them, then watches from the
// revision of the list, and lists again when the server has forgotten that revision. It survives
// servers that restart, cut connections, fall silent or answer rubbish.
//
// A Watch has one thread and one connection. The listener is called on that thread, one event at a
// time. State may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "codec/value.h"
#include "http/stop_signal.h"
#include "kube/access.h"
#include "kube/api_client.h"
#include "kube/list.h"
#include "kube/watch_stream.h"

namespace berth::kube {

/// What a listener learns. Between kListBegin and kListEnd come all objects that exist. They
/// replace what the listener knew, at kListEnd and not before: if a list is cut off, another
/// kListBegin follows, and the objects since the last one do not count. After kListEnd come
/// changes. A change may come twice, and its object is always the newest that the server has sent.
struct WatchEvent {
  enum class Type : uint8_t {
    kListBegin,
    kListed,
    kListEnd,
    kAdded,
    kModified,
    kDeleted,
    kBookmark,  ///< There was no change up to `revision`.
  };
  Type type = Type::kBookmark;
  codec::Value object = {};   ///< For kListed, kAdded, kModified and kDeleted.
  std::string revision = {};  ///< For all but kListBegin and kListed.
};

using WatchListener = std::function<void(const WatchEvent& event)>;

struct WatchOptions {
  /// The longest silence. Servers send a bookmark each minute, so a longer silence means that the
  /// connection is dead.
  std::chrono::nanoseconds idle_limit = std::chrono::seconds(150);
  /// How long the server is asked to watch. Each watch gets up to twice as long at random.
  std::chrono::seconds watch_time{300};
  std::chrono::nanoseconds first_pause = std::chrono::milliseconds(500);
  std::chrono::nanoseconds longest_pause = std::chrono::seconds(30);
  ListOptions list = {.one_revision = true};
  Patience patience = {};
};

struct WatchContext {
  const base::Clock& clock;
  uint64_t seed = 0;   ///< For the time between attempts.
  Sleeper sleep = {};  ///< If unset, the thread really sleeps, until Stop.
};

/// How a Watch is doing, for metrics and for /readyz.
struct WatchState {
  bool complete = false;  ///< A whole list has arrived since the start.
  /// Since when the present watch is open. Not set between watches.
  std::optional<base::WallTime> connected_since = {};
  /// When the last event, bookmark or list arrived. The listener may lag by the time since then.
  std::optional<base::WallTime> last_heard = {};
  std::string revision = {};  ///< All changes up to here were reported.
  std::string last_error = {};
  std::optional<base::WallTime> last_error_at = {};
  uint64_t lists = 0;     ///< Whole lists.
  uint64_t watches = 0;   ///< Watches that the server has accepted.
  uint64_t events = 0;    ///< Without bookmarks.
  uint64_t failures = 0;  ///< Requests that failed and watches that broke.
};

class Watch {
 public:
  /// Starts at once. The clock must live longer than the Watch.
  Watch(Access access, ListTarget target, WatchContext context, WatchListener listener,
        WatchOptions options = {});
  /// Stops, and waits for the listener to return.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Stops without waiting for the thread. Events may still come until the destructor returns.
  void Stop() { stop_->Raise(); }
  WatchState State() const;

 private:
  /// How a watch ended.
  enum class End : uint8_t { kDone, kExpired, kSilent, kBroken };

  void Run();
  bool ListAll();
  End WatchOnce();
  /// Passes on an event of the server. Returns false if the watch has to end.
  bool OnEvent(ServerEvent event, End& end);
  void Report(const WatchEvent& event);
  void NoteHeard();
  void NoteError(std::string message);
  void NoteConnected(bool connected);
  /// Waits before the next attempt, longer each time until there is progress.
  void Rest();

  const ListTarget target_;
  const WatchContext context_;
  const WatchListener listener_;
  const WatchOptions options_;
  const std::shared_ptr<http::StopSignal> stop_ = std::make_shared<http::StopSignal>();

  // Of the thread:
  base::SeededRandom random_;
  ApiClient client_;
  std::string revision_;  // Empty if a list has to come first.
  int failures_in_a_row_ = 0;
  int silences_in_a_row_ = 0;
  std::chrono::nanoseconds server_pause_{0};  // What the server has asked for.

  mutable base::Mutex mutex_;
  WatchState state_ GUARDED_BY(mutex_);
  std::thread thread_;  // The last member, because the thread uses the others.
};

}  // namespace berth::kube
