// Events older than the ring, read from etcd's history with short watches on the whole prefix. What
// one read brings is kept for a while: many watches that fell behind together read the same.
//
// A watch says nothing once it has caught up. Therefore the reads end at revisions that have an
// event in the prefix, or beyond which there is one; should nothing come for a while, a tick makes
// one.
//
// Threads: any; functions wait for etcd, one at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "store/etcd/context.h"
#include "store/etcd/ticker.h"
#include "store/event_ring.h"

namespace berth::store::etcd {

class Past final : public History {
 public:
  /// Nothing of the store is older than the etcd revision `first`. The others must outlive it.
  Past(const Context& context, Ticker& ticker, int64_t first)
      : context_(context), ticker_(ticker), first_(first) {}

  base::Result<WatchBatch> Read(const std::string& prefix, Revision after, Revision upto,
                                size_t max) override;

  /// All events of one etcd revision, in order.
  base::Result<std::vector<EventPtr>> OfRevision(int64_t mod);

 private:
  /// Every event of the etcd revisions `from` to `to`.
  struct Chunk {
    int64_t from = 0;
    int64_t to = 0;
    std::vector<EventPtr> events;
  };
  using ChunkPtr = std::shared_ptr<const Chunk>;

  /// A chunk with `from` in it; to `upto` or as far as a chunk goes.
  base::Result<ChunkPtr> Load(int64_t from, int64_t upto);
  base::Result<ChunkPtr> Fetch(int64_t from, int64_t upto) REQUIRES(mutex_);

  const Context& context_;
  Ticker& ticker_;
  const int64_t first_;

  base::Mutex mutex_;
  std::list<ChunkPtr> recent_ GUARDED_BY(mutex_);
};

}  // namespace berth::store::etcd
