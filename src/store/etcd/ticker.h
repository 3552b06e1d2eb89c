// Puts the tick key, so that the watch on the prefix passes the present revision though nothing may
// happen in it. etcd's own progress notifications overtake events on servers in use today.
//
// Threads: any.
#pragma once

#include <string>

#include "base/mutex.h"
#include "store/etcd/context.h"

namespace berth::store::etcd {

class Ticker {
 public:
  /// `context` must outlive it, and the client must be gone before it is.
  explicit Ticker(const Context& context);

  /// One put begins after this call; callers that come while one is under way share the next.
  void Request();

 private:
  void Send();
  void Sent();

  const Context& context_;
  base::Mutex mutex_;
  bool under_way_ GUARDED_BY(mutex_) = false;
  bool again_ GUARDED_BY(mutex_) = false;
};

/// The put of the tick key alone.
etcdserverpb::TxnRequest TickRequest(const Layout& layout);

}  // namespace berth::store::etcd
