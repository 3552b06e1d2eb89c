// Compacts etcd's old history, and shares that duty between processes the way kube-apiservers do.
// Every interval, each process tries to put the revision it saw one interval ago into one key, and
// compares that key's version. The process that succeeds compacts. So history lasts one to two
// intervals, however many processes there are.
//
// Not thread-safe: one thread calls it. It waits for etcd.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "store/etcd/etcd_context.h"

namespace berth::store::etcd {

class Compactor {
 public:
  /// `compacted` is called with the revision up to which history has been deleted, by this process
  /// or by another one. `context` must outlive the object.
  Compactor(const Context& context, std::function<void(Revision)> compacted);

  /// Does one round. The next round repeats what fails.
  void Round();

 private:
  const Context& context_;
  const std::function<void(Revision)> compacted_;
  const std::string key_;
  int64_t version_ = 0;  // Version of the key, as last seen.
  int64_t seen_ = 0;     // etcd's revision at the last round.
};

/// Parses the value of the compaction key. Returns 0 if it is not a number.
int64_t ParseCompacted(const std::string& value);

}  // namespace berth::store::etcd
