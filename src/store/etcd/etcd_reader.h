// Reads: a key, a page of a prefix at a revision, the current revision. All of them are
// linearizable.
//
// A revision whose slot is not the last lies inside an etcd revision. A page at such a revision is
// the state at that etcd revision, in which the changes of its later events are undone.
//
// Threads: any. Replies come on the client's threads, or on the reader's own thread (for pages
// inside an etcd revision, which wait for history).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/etcd_past.h"
#include "store/etcd/worker.h"
#include "store/types.h"

namespace berth::store::etcd {

class Reader {
 public:
  /// Nothing in the store is older than the etcd revision `first`. The arguments must outlive the
  /// reader. The client must be destroyed before the reader.
  Reader(const Context& context, Past& past, int64_t first, Revision compacted);

  void Get(const std::string& key, Done<std::optional<Entry>> done);
  void Scan(ScanRequest request, Done<ScanPage> done);
  void Current(Done<Revision> done);

  /// Returns the revision before which states have been deleted, as far as this process knows.
  Revision Compacted() const { return {compacted_.load()}; }
  void SetCompacted(Revision compacted);

  /// Ends the reader's own thread. The context's `stop` must be set.
  void End() { worker_.End(); }

 private:
  std::optional<base::Error> Probe(const ScanRequest& request, int64_t mod) const;
  void ScanInside(const ScanRequest& request, int64_t mod, const Done<ScanPage>& done);
  void SendCurrent(std::vector<Done<Revision>> served, bool plain = false);

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
