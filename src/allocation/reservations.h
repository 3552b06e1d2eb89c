// Reservations of addresses and ports through allocation.berth.io: the fields that the server fills
// in.
#pragma once

#include <optional>
#include <string>

#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/records.h"
#include "base/clock.h"
#include "codec/value.h"
#include "commit/write.h"
#include "registry/kind_rows.h"
#include "rules/record_notes.h"
#include "state/snapshot.h"

namespace berth::allocation {

/// A reservation being created. It begins once, and is completed in each attempt to decide the
/// write.
///
/// Threads: one at a time.
class Reservation {
 public:
  /// Begins with a new object in the stored form, before the registry completes it. Takes the notes
  /// of an address out of the object. Returns nullopt if the object is not a reservation of
  /// allocation.berth.io.
  static std::optional<Reservation> Begin(const registry::Served& served, codec::Value& object);

  /// Fills in the range and, for a hold, the time when it ends. The range is the one that the
  /// object names, which must have the value, or else the smallest range that has it. Returns the
  /// fence that must not change before the commit, or a refusal, which calls the object `name`.
  struct Surroundings {
    Ledger& ledger;
    const RecordRows& rows;
    const state::Snapshot& snapshot;
    base::WallTime now;
  };
  tl::expected<commit::Compare, commit::Refusal> Complete(const Surroundings& around,
                                                          std::string_view name,
                                                          codec::Value& object);

  /// Returns the warning for the client that created the reservation, if its Service cannot take
  /// the value at present. Returns nullopt if it can, or if the value is reserved for no Service.
  std::optional<std::string> Advice(const Ledger& ledger, const codec::Value& object) const;

  /// Returns what is hidden of the object; see Strategy::hide.
  std::string Hidden() const;

 private:
  Reservation(const registry::Served& served, bool port) : served_(served), port_(port) {}

  tl::expected<RangeState, base::Error> FindRange(const Ledger& ledger, const PoolValue& value,
                                                  std::string_view name) const;

  void Fill(const RangeState& range, base::WallTime now, codec::Value& object);

  registry::Served served_;
  bool port_;
  std::string named_ = {};         // Name of the range, or empty if the object names none.
  rules::RecordNotes notes_ = {};  // For an address.
};

}  // namespace berth::allocation
