// The writes that wait for any value of a full pool, or of a full range of it, in the order of
// their tickets. Each of them needs some number of values and gets all of them together.
//
// A write that comes later leaves as many values as those ahead of it need. So the writes that wait
// are served in order, and no newcomer takes the value that one of them waits for.
//
// Not thread-safe; guarded by Ledger's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "alloc/pool.h"
#include "allocation/claims/claims.h"
#include "allocation/ledger/callbacks.h"
#include "allocation/ledger/in_flight_values.h"

namespace berth::allocation {

/// What a write still needs of a pool.
struct QueueEntry {
  size_t needs = 0;
  std::string range = {};     // The range that some of them must come from. Empty means any range.
  size_t needs_in_range = 0;  // How many of them.
  Callback retry = {};        // Empty while the write is about to try again.
};

class WaitQueue {
 public:
  using Range = alloc::Pool::Range;

  /// What the entries ahead of a write need. The names live as long as the queue is not changed.
  struct Demand {
    U128 total = 0;
    std::map<std::string_view, U128> in_range = {};
  };

  bool IsEmpty() const { return entries_.empty(); }
  /// Returns whether a write waits for a range by name.
  bool NamesRanges() const { return named_ > 0; }

  /// Adds the entry of a ticket, or replaces it.
  void Enter(uint64_t ticket, QueueEntry entry);
  /// Registers the callback of an entry. Returns false if the ticket has no entry.
  bool Await(uint64_t ticket, Callback retry);
  /// Removes the entry of a ticket. Returns false if it has none.
  bool Leave(uint64_t ticket);

  /// Returns what the entries ahead of a ticket need; without a ticket, what all need. Stops adding
  /// when that is more than the pool has.
  Demand DemandAhead(const alloc::Pool& pool, std::optional<uint64_t> ticket) const;

  /// Adds the callbacks of entries that should try again, because there are enough values for them
  /// or because nothing in flight could free one. `closing` says that ranges of the pool are
  /// closing.
  void Wake(const alloc::Pool& pool, const InFlightValues& in_flight, bool closing,
            Callbacks& callbacks);
  /// Removes all entries and moves their callbacks out.
  void TakeCallbacks(Callbacks& callbacks);

  /// Returns whether a pool has enough for an entry and for those ahead of it.
  static bool IsEnough(const alloc::Pool& pool, const QueueEntry& entry, const Demand& ahead);
  /// Returns whether the range has too few values for an entry.
  static bool IsShort(const alloc::Pool& pool, const Range& range, const QueueEntry& entry);
  /// Returns the best range to pick from that has more values than the entries ahead need of it.
  /// Null if there is no such range.
  static const Range* RangeToSpare(const alloc::Pool& pool, const Demand& ahead);

 private:
  static void Add(const alloc::Pool& pool, const QueueEntry& entry, Demand& ahead);

  std::map<uint64_t, QueueEntry> entries_;  // By ticket: the oldest first.
  size_t named_ = 0;                        // Number of entries that name a range.
};

}  // namespace berth::allocation
