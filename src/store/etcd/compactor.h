// Gives up etcd's old history, the way kube-apiservers share that duty: every interval each process
// tries to put the revision it saw an interval ago into one key, comparing that key's version; who
// succeeds compacts. So history lasts one to two intervals however many processes there are.
//
// Not thread-safe: one thread calls it. It waits for etcd.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "store/etcd/context.h"

namespace berth::store::etcd {

class Compactor {
 public:
  /// `compacted` is told what is gone, whoever did it. `context` must outlive it.
  Compactor(const Context& context, std::function<void(Revision)> compacted);

  /// One round. What fails is tried again by the next.
  void Round();

 private:
  const Context& context_;
  const std::function<void(Revision)> compacted_;
  const std::string key_;
  int64_t version_ = 0;  // Of the key, as last seen.
  int64_t seen_ = 0;     // etcd's revision at the last round.
};

/// What the compaction key says; 0 when that is not a number.
int64_t ParseCompacted(const std::string& value);

}  // namespace berth::store::etcd
