// The writes with shared puts that wait to be merged into a transaction, in their order, and the
// shared keys that are in the store. A write that has to wait for a key is not overtaken by later
// writes that want one of its keys. Internal to commit.
//
// Not thread-safe: it belongs to the thread that merges (Merger).
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "commit/merged_txn.h"
#include "commit/op.h"
#include "state/text_map.h"
#include "store/types.h"

namespace berth::commit {

class MergeQueue {
 public:
  struct Entry {
    OpPtr op = {};
    std::optional<store::Txn> txn = {};  // Set when the write is first tried.
  };

  /// Adds the write at the end. A write that was in the queue before gets its old position, which
  /// is near the front.
  void Add(OpPtr op);

  /// Marks keys as in the store: writes with such a key wait.
  void Occupy(const std::vector<MergedTxn::Key>& keys);
  void Release(const std::vector<MergedTxn::Key>& keys);

  /// One walk over the writes that can be sent now, in their order. Only one walk at a time.
  class Walk {
   public:
    explicit Walk(MergeQueue& queue);

    /// Moves on to the next write of which no key is occupied or wanted by a write that has to
    /// wait. Returns null at the end.
    Entry* Next();
    /// Removes the write that Next has returned. Call it before the write is decided again.
    void Remove();

   private:
    MergeQueue& queue_;
    state::TextSet blocked_;
    std::list<Entry>::iterator next_;
  };

  /// Removes all writes and returns them.
  Ops Clear();

 private:
  bool AllBlocked(const state::TextSet& blocked) const;

  std::list<Entry> entries_;  // By Op::merge_order.
  uint64_t last_order_ = 0;
  state::TextMap<size_t> wanted_;  // How many entries want each shared key.
  state::TextSet occupied_;        // Shared keys of transactions in the store.
};

}  // namespace berth::commit
