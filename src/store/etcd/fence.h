// This process's fence and receipts in etcd.
//
// Every etcd Txn of the process compares the fence's mod_revision (its epoch) and puts the receipt
// of the lane it is sent on. When it is not known what became of a Txn, the fence is put anew: from
// then on no Txn with an older epoch can commit, however late it arrives, and the receipt tells
// whether it had. A fence put that is itself unknown is repeated; one that arrives late moves the
// epoch once more, and Txns that meet it fail whole and are sent again.
//
// The fence hangs on a lease that is kept alive, so that it goes when the process is gone; the
// receipts of a process whose fence has long been gone are tidied away by others (housekeeper.h).
//
// Threads: Create and Renew are called by one thread at a time (the committer's); the others by
// any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/etcd/await.h"
#include "store/etcd/context.h"

namespace berth::store::etcd {

class Fence {
 public:
  static constexpr std::chrono::seconds kLease{600};

  /// `context` must outlive it.
  Fence(const Context& context, const std::string& id, size_t lanes);

  const std::string& Key() const { return key_; }
  std::string ReceiptKey(size_t lane) const;

  /// Puts fence and receipts for the first time, provided the marker is still as it was read.
  /// Waits. Returns the epoch, which is also the revision at which the process begins.
  base::Result<int64_t> Create(const std::string& marker_key, int64_t marker_mod);

  /// Puts the fence anew and returns the epoch. Waits for as long as it takes, calling `meanwhile`
  /// between attempts; nothing when the engine is closing. An etcd that is out of space takes no
  /// puts: then the fence is deleted, which no older epoch gets past either.
  std::optional<int64_t> Renew(const std::function<void()>& meanwhile);

  /// One round of keeping the lease alive. Waits.
  void KeepAlive();

  /// Takes fence and receipts away, waiting a moment at most. Nothing may be sent afterwards.
  void Remove();

 private:
  /// A lease, if there is none; what went wrong.
  std::optional<CallError> Grant();
  /// One attempt to put the fence, or to delete it; the epoch, or what went wrong.
  CallResult<int64_t> Move(bool remove);

  const Context& context_;
  const std::string key_;
  const size_t lanes_;
  std::atomic<int64_t> lease_ = 0;
};

}  // namespace berth::store::etcd
