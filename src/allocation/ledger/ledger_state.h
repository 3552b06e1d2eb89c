// All that the ledger knows, and the rules that concern more than one of its parts: a change of
// what the store says, the end of a grant, a new table of ranges, and waiting.
//
// Not thread-safe; guarded by Ledger's mutex.
#pragma once

#include <cstdint>
#include <vector>

#include "alloc/pool.h"
#include "alloc/range_table.h"
#include "allocation/bitmaps/bitmap_follower.h"
#include "allocation/bitmaps/store_form.h"
#include "allocation/claims/claims.h"
#include "allocation/claims/record_info.h"
#include "allocation/ledger/callbacks.h"
#include "allocation/ledger/held_by_services.h"
#include "allocation/ledger/in_flight_values.h"
#include "allocation/ledger/range_book.h"
#include "allocation/ledger/reserved_values.h"
#include "allocation/ledger/wait_queue.h"
#include "base/random.h"

namespace berth::allocation {

struct LedgerPool {
  alloc::Pool values = {};
  HeldByServices held = {};
  InFlightValues in_flight = {};
  WaitQueue queue = {};
  uint64_t changes = 0;  // A denial from before the last change may be wrong by now.
  bool cools = false;    // Some range has a cool-down.
  bool closing = false;  // Some range is closing.
};

/// What a denied write may wait for.
struct WaitTarget {
  enum class Kind : uint8_t { kNothing, kValue, kTable, kQueue };

  Kind kind = Kind::kNothing;
  PoolValue value = {};  // kQueue: its pool.
  uint64_t seen = 0;     // LedgerPool::changes at the denial. kTable: RangeBook::TablesMade().
  uint64_t ticket = 0;   // kQueue.
};

struct LedgerState {
  explicit LedgerState(const base::SeededRandom& seed) : random(seed) {}

  /// Applies what a record says. Revision 0 means that the record no longer exists.
  void ApplyRecord(const RecordInfo& info, int64_t revision, Callbacks& callbacks);
  /// Applies that a Service begins or ceases to hold a value.
  void ApplyHolding(const PoolValue& value, bool held, Callbacks& callbacks);
  /// Applies what bitmaps say.
  void ApplyStored(const StoredValues& values, Callbacks& callbacks);
  /// Makes the table of ranges again.
  void MakeTable(Callbacks& callbacks);
  /// Sets the form of allocations. If the other form counts now, reads what it says is held.
  void SetForm(AllocationForm next, int64_t revision, const BitmapFollower& bitmaps,
               Callbacks& callbacks);

  /// Notes that a write releases a value. Returns what it must do with the record.
  ReleasedValue Release(const PoolValue& value);
  /// Ends a grant: what its write took is free again, unless the store says otherwise.
  void End(const Grant& grant, Callbacks& callbacks);

  /// Registers a callback. Returns false if what the target depends on has changed already.
  bool Await(const WaitTarget& target, Callback retry);
  /// Removes a ticket from all queues. Writes after it may have waited for its turn only.
  void LeaveQueues(uint64_t ticket, Callbacks& callbacks);
  /// Moves out the callbacks of all that wait.
  void TakeCallbacks(Callbacks& callbacks);

  PerPool<LedgerPool> pools = {};
  ReservedValues reserved = {};
  RangeBook ranges = {};
  StoreForm form = {};
  std::vector<alloc::RangeFacts::Part> left_out = {};  // Ranges that have no room in bitmaps.
  base::SeededRandom random;
  uint64_t earlier_changes = 0;  // Of pools that were replaced by empty ones.
  uint64_t next_ticket = 1;

 private:
  /// Applies what the record or the bit of a value says.
  void PutSaid(const PoolValue& value, alloc::State said, Callbacks& callbacks);
  /// Applies what the store says of a value: its record or bit together with the Services.
  void PutStored(const PoolValue& value, alloc::State stored, Callbacks& callbacks);
  void ForgetStored();
  void RestoreHeld(Callbacks& callbacks);
  static void Changed(LedgerPool& pool, Callbacks& callbacks);
  static void EndValue(LedgerPool& pool, U128 value, const InFlightValues::Ended& ended,
                       Callbacks& callbacks);
};

}  // namespace berth::allocation
