// This process's epoch, which is a key in etcd that every Txn of the process compares, and the
// receipts of these Txns.
//
// The epoch is the mod_revision of the key. Every etcd Txn of the process compares it and puts the
// receipt of the lane that it is sent on. When the outcome of a Txn is unknown, the key is put
// again. From then on no Txn with an older epoch can commit, however late it arrives, and the
// receipt shows whether the Txn had committed before. If the outcome of putting the key is itself
// unknown, the put is repeated. Such a put may arrive late and move the epoch once more. Then Txns
// with the older epoch fail as a whole and are sent again.
//
// The key is attached to a lease that is kept alive, so that etcd deletes the key after the process
// has ended. The receipts of a process whose epoch key has been missing for long are deleted by
// other processes (housekeeper.h).
//
// In etcd the key is PREFIX/berth.io/fence/process/ID, and a receipt is that key with /LANE after
// it. All processes on a prefix rely on these names, so they still say "fence/process", and so does
// the log. They have nothing to do with the fences of ranges of addresses.
//
// Threads: Create and Renew are called by one thread at a time (the committer's). The other
// functions may be called from any thread.
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
#include "store/etcd/etcd_context.h"

namespace berth::store::etcd {

class Epoch {
 public:
  static constexpr std::chrono::seconds kLease{600};

  /// `context` must outlive the object.
  Epoch(const Context& context, const std::string& id, size_t lanes);

  const std::string& Key() const { return key_; }
  std::string ReceiptKey(size_t lane) const;
  /// Returns a receipt as Create puts it.
  etcdserverpb::KeyValue FirstReceipt(int64_t epoch) const;

  /// Puts the key and the receipts for the first time, provided that the marker is still as it
  /// was read. Blocks. Returns the epoch, which is also the revision at which the process begins.
  base::Result<int64_t> Create(const std::string& marker_key, int64_t marker_mod);

  /// Puts the key again and returns the new epoch. Blocks for as long as it takes and calls
  /// `meanwhile` between attempts. Returns nullopt if the engine is closing. If etcd is out of
  /// space and accepts no puts, the key is deleted instead, which stops every older epoch just as
  /// well.
  std::optional<int64_t> Renew(const std::function<void()>& meanwhile);

  /// Keeps the lease alive once. Blocks.
  void KeepAlive();

  /// Deletes the key and the receipts; blocks for a short time at most. Nothing may be sent
  /// afterwards.
  void Remove();

 private:
  /// Gets a lease unless there is one. Returns the error if that fails.
  std::optional<CallError> Grant();
  /// Makes one attempt to put the key, or to delete it. Returns the epoch or the error.
  CallResult<int64_t> Move(bool remove);

  const Context& context_;
  const std::string key_;
  const size_t lanes_;
  std::atomic<int64_t> lease_ = 0;
};

}  // namespace berth::store::etcd
