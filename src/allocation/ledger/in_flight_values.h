// The values of one pool that writes in flight take or release, and the writes that wait for one of
// these values.
//
// - For each value it keeps the state that the store says, which is what holds if the write fails.
// - A value that a write in flight takes is taken, whatever the store says of it meanwhile.
//
// Not thread-safe; guarded by Ledger's mutex.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "alloc/pool.h"
#include "alloc/state.h"
#include "allocation/claims/claims.h"
#include "allocation/ledger/callbacks.h"

namespace berth::allocation {

class InFlightValues {
 public:
  bool IsEmpty() const { return values_.empty(); }
  /// Returns whether there are more than `count` values in a range. A null range means all ranges.
  bool HasMoreThan(size_t count, const alloc::Pool::Range* range) const;

  /// Notes that a write takes or releases a value. `stored` is the state before that.
  void Take(U128 value, alloc::State stored) { Add(value, stored).taken = true; }
  void Release(U128 value, alloc::State stored) { Add(value, stored).released = true; }

  /// Undoes a Take that no other thread has seen. Returns the state that the store says.
  alloc::State UndoTake(U128 value);

  /// The outcome of a write's end for one value.
  struct Ended {
    bool was_in_flight = false;
    std::optional<alloc::State> state = {};  // The state from now on. Nullopt if still taken.
  };
  /// Notes the end of a write that took or released the value. Adds the callbacks of those that
  /// wait for the value.
  Ended EndTake(U128 value, Callbacks& callbacks) {
    return End(value, &InFlight::taken, callbacks);
  }
  Ended EndRelease(U128 value, Callbacks& callbacks) {
    return End(value, &InFlight::released, callbacks);
  }

  /// Returns what the store says of a value. `pool` has the states of all values.
  alloc::State Stored(U128 value, const alloc::Pool& pool) const;
  /// Notes what the store says of a value, in flight or not. Returns the state that it is in.
  alloc::State SetStored(U128 value, alloc::State stored);
  /// Forgets what the store has said, and holds in an empty pool the values that writes take.
  void ForgetStored(alloc::Pool& pool);

  /// Returns whether the end of a write in flight could change the state of a value.
  bool MayChange(U128 value) const;
  /// Registers a callback for the end of a write. Returns false if the value is not in flight.
  bool Await(U128 value, Callback retry);
  /// Moves all callbacks out.
  void TakeCallbacks(Callbacks& callbacks);

 private:
  struct InFlight {
    bool taken = false;
    bool released = false;
    alloc::State stored = alloc::State::kFree;  // What the store says. Free if it has no record.
    Callbacks waiting = {};
  };

  InFlight& Add(U128 value, alloc::State stored) {
    return values_.try_emplace(value, InFlight{.stored = stored}).first->second;
  }
  Ended End(U128 value, bool InFlight::* part, Callbacks& callbacks);

  std::map<U128, InFlight> values_;
};

}  // namespace berth::allocation
