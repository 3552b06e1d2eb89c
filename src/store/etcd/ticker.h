// Puts the tick key, so that the watch on the prefix passes the current revision even if nothing
// else is written. etcd's own progress notifications overtake events on servers in use today.
//
// Threads: any.
#pragma once

#include <string>

#include "base/mutex.h"
#include "store/etcd/etcd_context.h"

namespace berth::store::etcd {

class Ticker {
 public:
  /// `context` must outlive the ticker. The client must be destroyed before the ticker.
  explicit Ticker(const Context& context);

  /// Makes sure that one put begins after this call. Callers that come while a put is in flight
  /// share the next one.
  void Request();

 private:
  void Send();
  void Sent();

  const Context& context_;
  base::Mutex mutex_;
  bool under_way_ GUARDED_BY(mutex_) = false;
  bool again_ GUARDED_BY(mutex_) = false;
};

/// Returns a request that only puts the tick key, with a value of its own.
etcdserverpb::TxnRequest TickRequest(const Context& context);

}  // namespace berth::store::etcd
