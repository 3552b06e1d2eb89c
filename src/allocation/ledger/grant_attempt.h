// One attempt to grant all claims of a write. It takes values in the ledger's state as it goes, and
// undoes that if a claim is denied. It lives under Ledger's mutex from the first claim to the last,
// so no other thread sees a part of it.
//
// - A value that is reserved for the claimant goes to it first, if the claim allows that value.
// - Any other value that the claim does not name is picked at random, in turn (see WaitQueue).
// - A denial waits for writes in flight that could change it, and for ranges that are closing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "alloc/pool.h"
#include "alloc/state.h"
#include "allocation/claims/claims.h"
#include "allocation/ledger/ledger_state.h"
#include "allocation/ledger/wait_queue.h"

namespace berth::allocation {

class GrantAttempt {
 public:
  /// All arguments must outlive it. `ticket` is nullopt if the write has not waited in a queue yet.
  GrantAttempt(LedgerState& state, const Claimant& claimant, std::span<const Claim> claims,
               std::optional<uint64_t> ticket);

  /// A denial without its `wait`, and what it waits for. Has a new ticket if the write waits in a
  /// queue for the first time.
  struct Denied {
    Denial denial = {};
    WaitTarget wait = {};
  };
  /// Takes a value for each claim. If one is denied, undoes the others and returns why.
  std::optional<Denied> TakeAll();
  /// Completes the grant after a successful TakeAll. The write also releases these values.
  Grant&& Finish(std::span<const PoolValue> releases) &&;

 private:
  using Range = alloc::Pool::Range;
  using Why = Denial::Why;

  std::optional<Denied> Take(const Claim& claim);
  std::optional<Denied> TakeWanted(const Claim& claim);
  std::optional<Denied> TakeAny(const Claim& claim, const Range* range);
  bool TakeReserved(PoolId pool, const Range* range);
  void Taken(const PoolValue& value, alloc::State before);
  void Undo();

  Denied Deny(PoolId pool, Why why) const;
  /// Returns a denial if the write has to wait for others. A null range means any range.
  std::optional<Denied> CheckTurn(const Claim& claim, const Range* range);
  Denied DenyFull(const Claim& claim, const Range* range, bool others_first);
  WaitTarget WaitInQueue(const Claim& claim);
  /// Returns what the write still needs of the claim's pool, and how much of the claim's range.
  QueueEntry EntryOf(const Claim& claim) const;
  size_t OtherClaim(const Claim& claim) const;

  LedgerState& state_;
  const Claimant& claimant_;
  const std::span<const Claim> claims_;
  std::optional<uint64_t> ticket_;
  size_t at_ = 0;  // Index of the claim that is being granted.
  Grant grant_;
  PerPool<size_t> needs_ = {};  // Values that are still to be picked.
  /// The range of each pool for which it is the write's turn. Empty means any range.
  PerPool<std::optional<std::string_view>> turns_ = {};
};

}  // namespace berth::allocation
