// Reads: a key, a page of a prefix at a revision, the current revision. All linearizable.
//
// A page at a revision inside an etcd revision (its slot is not the last) is the state at that etcd
// revision, with what its later events changed put back to what was there before.
//
// Threads: any. Replies come on the client's threads, or on the reader's own (pages inside a
// revision, which wait for history).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "store/etcd/context.h"
#include "store/etcd/past.h"
#include "store/etcd/worker.h"
#include "store/types.h"

namespace berth::store::etcd {

class Reader {
 public:
  /// Nothing of the store is older than the etcd revision `first`. The others must outlive it, and
  /// the client must be gone before it is.
  Reader(const Context& context, Past& past, int64_t first, Revision compacted);

  void Get(const std::string& key, Done<std::optional<Entry>> done);
  void Scan(ScanRequest request, Done<ScanPage> done);
  void Current(Done<Revision> done);

  /// States before this one are gone, as far as this process knows.
  Revision Compacted() const { return {compacted_.load()}; }
  void SetCompacted(Revision compacted);

  /// Ends the reader's own thread; the context's `stop` must be set.
  void End() { worker_.End(); }

 private:
  std::optional<base::Error> Probe(const ScanRequest& request, int64_t mod) const;
  void ScanInside(const ScanRequest& request, int64_t mod, const Done<ScanPage>& done);
  void SendCurrent(std::vector<Done<Revision>> served);

  const Context& context_;
  Past& past_;
  const int64_t first_;
  std::atomic<int64_t> compacted_;

  base::Mutex mutex_;
  bool current_under_way_ GUARDED_BY(mutex_) = false;
  std::vector<Done<Revision>> current_next_ GUARDED_BY(mutex_);

  Worker worker_;
};

}  // namespace berth::store::etcd
