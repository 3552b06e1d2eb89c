// Reservations of addresses and ports that are made through allocation.berth.io: what of them is
// the server's to say.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "codec/value.h"
#include "commit/allocations.h"
#include "commit/write.h"
#include "registry/kinds.h"
#include "registry/records.h"
#include "rules/record_notes.h"
#include "state/follower.h"

namespace berth::registry {

/// One on its way: begun once, placed each time that it is decided.
///
/// Not for several threads at once.
class Reservation {
 public:
  /// Of a new object in the stored form, before it is completed; nothing: it is none of these. The
  /// notes of an address are taken out of it.
  static std::optional<Reservation> Begin(const Served& served, codec::Value& object);

  /// The object, complete, gets its range (the one it names, which must have the value, or else the
  /// smallest that has it) and the time when it ends, if it is a hold. The fence that has to be as
  /// it was, or why it cannot be. `name` is how a refusal names it.
  struct Surroundings {
    commit::Allocations& allocations;
    const RecordRows& rows;
    const state::Follower& follower;
    base::WallTime now;
  };
  tl::expected<commit::Compare, commit::Refusal> Place(const Surroundings& around,
                                                       std::string_view name, codec::Value& object);

  /// What who made it should hear of it, once it is placed; nothing: it can be redeemed, or is for
  /// nobody.
  std::optional<std::string> Advice(const commit::Allocations& allocations,
                                    const codec::Value& object) const;

  /// As Strategy::hide.
  std::string Hidden() const;

 private:
  using RangeState = commit::Allocations::RangeState;

  Reservation(const Served& served, bool port) : served_(served), port_(port) {}

  tl::expected<RangeState, base::Error> FindRange(const commit::Allocations& allocations,
                                                  const commit::PoolValue& value,
                                                  std::string_view name) const;

  void Fill(const RangeState& range, base::WallTime now, codec::Value& object);

  Served served_;
  bool port_;
  std::string named_ = {};         // The range; empty: none was.
  rules::RecordNotes notes_ = {};  // Of an address.
};

}  // namespace berth::registry
