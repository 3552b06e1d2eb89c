// The range objects and fences that the snapshot shows, the table of ranges made of them, and the
// writes that wait for a fence or for the next table.
//
// A write of a range object that changes nothing of what the ledger reads does not make a new
// table.
//
// Not thread-safe; guarded by Ledger's mutex.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alloc/range_table.h"
#include "allocation/claims/claims.h"
#include "allocation/ledger/callbacks.h"
#include "ip/addr.h"

namespace berth::allocation {

struct RangeUpdate {
  std::string key = {};
  std::optional<alloc::RangeFacts> facts = {};  // Nullopt if the object was deleted.
};

struct FenceChange {
  PoolId pool = PoolId::kIpv4;
  int64_t revision = 0;  // Of the fence. 0 if it was deleted.
  int64_t notified = 0;  // Of the change, also if that is a deletion.
  std::optional<alloc::Closing> closing = {};
};

class RangeBook {
 public:
  /// Applies changes and adds the callbacks that wait for fences. Returns whether the table must be
  /// made again.
  bool Apply(std::vector<RangeUpdate> ranges, std::vector<FenceChange> fences,
             Callbacks& callbacks);

  alloc::RangeTable MakeTable();
  /// Returns the table of the range objects as they are stored, whichever of them are closing.
  alloc::RangeTable StoredTable() const { return alloc::MakeRangeTable(objects_, {}); }
  /// Returns how often the table was made.
  uint64_t TablesMade() const { return tables_made_; }
  /// Returns the families of the last table.
  const std::vector<ip::Family>& Families() const { return families_; }
  /// Registers a callback for the next table. Returns false if it was made since `seen`.
  bool AwaitTable(uint64_t seen, Callback retry);
  /// Moves out the callbacks that wait for a table.
  void TakeTableCallbacks(Callbacks& callbacks);

  /// Returns the revision of a pool's fence. 0 if there is no fence.
  int64_t Fence(PoolId pool) const { return fences_[pool].revision; }
  /// Registers a callback for a change of a fence after a revision. Returns false if the ledger was
  /// notified of such a change already.
  bool AwaitFence(PoolId pool, int64_t revision, Callback retry);

  /// Moves all callbacks out.
  void TakeCallbacks(Callbacks& callbacks);

 private:
  struct FenceState {
    int64_t revision = 0;
    int64_t notified = 0;
  };
  struct FenceWait {
    PoolId pool = PoolId::kIpv4;
    int64_t revision = 0;
    Callback retry = {};
  };

  bool ApplyRange(RangeUpdate range);
  bool ApplyFence(FenceChange fence, Callbacks& callbacks);

  alloc::RangeObjects objects_;
  alloc::Closings closings_;
  std::vector<ip::Family> families_;
  uint64_t tables_made_ = 0;
  PerPool<FenceState> fences_ = {};
  Callbacks table_waits_;
  std::vector<FenceWait> fence_waits_;
};

}  // namespace berth::allocation
