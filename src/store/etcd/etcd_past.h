// Events older than the ring, read from etcd's history with short watches on the whole prefix. The
// events of one read are kept for a while, because many watches that fell back together read the
// same events.
//
// A watch sends nothing once it has caught up. Therefore a read ends at a revision that has an
// event in the prefix, or that is followed by one. If nothing arrives for a while, a tick makes an
// event.
//
// Threads: any. The functions wait for etcd, one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/ticker.h"
#include "store/event_ring.h"

namespace berth::store::etcd {

class Past final : public History {
 public:
  /// Nothing in the store is older than the etcd revision `first`. The arguments must outlive the
  /// object.
  Past(const Context& context, Ticker& ticker, int64_t first)
      : context_(context), ticker_(ticker), first_(first) {}

  base::Result<WatchBatch> ReadHistory(const HistoryRequest& request) override;

  /// Returns all events of one etcd revision, in order.
  base::Result<std::vector<EventPtr>> OfRevision(int64_t mod);

 private:
  /// Every event of the etcd revisions `from` to `to`.
  struct Chunk {
    int64_t from = 0;
    int64_t to = 0;
    std::vector<EventPtr> events;
  };
  using ChunkPtr = std::shared_ptr<const Chunk>;

  /// Returns a chunk that contains `from`. It ends at `upto`, or earlier if a chunk is full.
  base::Result<ChunkPtr> Load(int64_t from, int64_t upto);
  base::Result<ChunkPtr> Fetch(int64_t from, int64_t upto) REQUIRES(mutex_);

  const Context& context_;
  Ticker& ticker_;
  const int64_t first_;

  base::Mutex mutex_;
  std::list<ChunkPtr> recent_ GUARDED_BY(mutex_);
};

}  // namespace berth::store::etcd
