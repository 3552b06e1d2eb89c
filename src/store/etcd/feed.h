// The one watch on the whole prefix that feeds the ring all watches share. It begins at a revision,
// goes on after the last complete one whenever its stream ends, on whichever member answers, and
// tells every watch to start over when etcd no longer has what is missing. It costs etcd about half
// as much again as the writes themselves, one by one, so it begins when somebody watches.
//
// Threads: one of its own for opening streams; events come on the client's.
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
#include "store/etcd/context.h"
#include "store/event_ring.h"

namespace berth::store::etcd {

class Feed {
 public:
  /// Events after the etcd revision `from`, which the ring begins at. The others must outlive it.
  Feed(const Context& context, EventRing& ring, int64_t from)
      : context_(context), ring_(ring), last_(from) {}
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// Begins, once: at the newest revision that is known, while the ring has no cursor yet. What
  /// lies before is history.
  void Start();
  /// Ends it; the context's `stop` must be set.
  void End();

 private:
  /// How a stream ended.
  struct Ending {
    CallError error;
    bool compacted = false;
  };

  void Run();
  Ending RunStream();
  void Take(const etcdserverpb::WatchResponse& response);
  bool StartOver();

  const Context& context_;
  EventRing& ring_;

  std::once_flag started_;
  base::Mutex mutex_;
  base::CondVar ended_;
  std::optional<CallError> end_ GUARDED_BY(mutex_);

  // Of the stream's callbacks while there is one, of the thread otherwise.
  int64_t last_;
  bool compacted_ = false;
  std::atomic<bool> alive_ = false;  // Something came on this stream.

  std::thread thread_;
};

}  // namespace berth::store::etcd
