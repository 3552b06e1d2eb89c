// The one watch on the whole prefix that feeds the ring, which all watches share. It begins at a
// revision. Whenever its stream ends, it continues after the last complete revision on any member
// that answers. A new stream begins with the last witness (time_line.h). If it shows something else
// there, etcd has another time line, and the engine stops before any event of it is taken. When
// etcd no longer has the missing events, the feed makes every watch start over. It
// costs etcd about half as much again as the writes themselves, when they come one by one, so it
// begins with the first watch.
//
// Threads: one of its own to open streams; events come on the client's threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "store/etcd/await.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/marker.h"
#include "store/event_ring.h"

namespace berth::store::etcd {

class Feed {
 public:
  /// Feeds events after the etcd revision `from`, at which the ring begins. The marker is as it was
  /// read. The arguments must
  /// outlive the feed.
  Feed(const Context& context, EventRing& ring, const Marker& marker, int64_t from);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// Begins once, at the newest revision that is known, before the ring has a cursor. Anything
  /// earlier is history.
  void Start();
  /// Ends the feed. The context's `stop` must be set.
  void End();

 private:
  /// The way a stream ended.
  struct Ending {
    CallError error;
    bool compacted = false;
  };

  void Run();
  Ending RunStream();
  void Take(const etcdserverpb::WatchResponse& response);
  bool Verify(const etcdserverpb::WatchResponse& response);
  bool StartOver();
  bool HasOwnReceipt();
  void CheckWitness();

  const Context& context_;
  EventRing& ring_;
  const std::string marker_key_;
  const std::string marker_text_;

  std::once_flag started_;
  base::Mutex mutex_;
  base::CondVar ended_;
  std::optional<CallError> end_ GUARDED_BY(mutex_);

  // These belong to the stream's callbacks while there is a stream, and to the thread otherwise.
  int64_t last_;
  bool compacted_ = false;
  bool fed_ = false;                 // Some stream has delivered events.
  bool verified_ = false;            // This stream has shown the witness...
  Witness witness_;                  // ...which was the newest when the stream began.
  std::atomic<bool> alive_ = false;  // This stream has delivered something.

  std::thread thread_;
};

}  // namespace berth::store::etcd
