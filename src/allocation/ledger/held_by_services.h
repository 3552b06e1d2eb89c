// The values of one pool that stored Services hold. A value that a Service holds is taken, whatever
// its record or its bit says, and also if it has no record. So a record that is lost frees nothing.
//
// Nearly always one Service holds a value, and its record or bit says that it is taken. Then the
// value costs one place in a set: 6 to 12 bytes for an IPv4 address or a port. What differs from
// that is kept beside it.
//
// Not thread-safe; guarded by Ledger's mutex.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>

#include "alloc/state.h"
#include "alloc/value_set.h"
#include "base/uint128.h"

namespace berth::allocation {

class HeldByServices {
 public:
  using U128 = base::U128;
  using State = alloc::State;

  /// Notes that one more Service holds the value. `said` is what its record or bit says, and counts
  /// only if no other Service holds the value.
  void Add(U128 value, State said);
  /// Notes that one Service less holds the value. Returns the state that the store gives the value
  /// now: taken if another Service holds it, else what its record or bit says. The value must have
  /// been added.
  State Remove(U128 value);

  /// Notes what the record or the bit of a value says. Returns the state that the store gives the
  /// value.
  State Say(U128 value, State said);
  /// Forgets what records or bits have said, as if they had all said that values are taken. The
  /// caller must say again of each value what is true of it.
  void ForgetSaid() { said_.clear(); }

  /// Returns how many Services hold the value.
  size_t Count(U128 value) const;
  /// Visits all values that a Service holds, in any order.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    held_.ForEach(visit);
  }

 private:
  using Hash = alloc::ValueHash;

  alloc::ValueSet held_;
  absl::flat_hash_map<U128, uint32_t, Hash> more_;  // Holders beyond the first. Never 0.
  absl::flat_hash_map<U128, State, Hash> said_;     // Of held values. Never taken.
};

}  // namespace berth::allocation
