// Which addresses and ports are taken, and the takes of writes on their way. It follows the store's
// records as a listener of the picture; a value is taken if a record of it is stored or a write in
// flight takes it. So it can be built anew from the store at any moment, and what a write took is
// free again when the write has failed, not earlier and not later.
//
// - A take counts from the moment it is granted, a give-back only when it is committed.
// - A write is granted all of its claims or none.
// - A denial holds in committed state. One that a write in flight could change says how to wait for
//   that; those who wait for any value of a full range are served in order, ahead of who comes
//   later.
//
// Threads: every function may be called from any thread; callbacks are called with no lock held, on
// the thread that settled what they waited for. Grants and tickets must not outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alloc/pool.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "ip/addr.h"
#include "state/change.h"

namespace berth::commit {

using alloc::U128;

enum class PoolId : uint8_t { kIpv4, kIpv6, kPorts };
inline constexpr size_t kPools = 3;

inline PoolId PoolOf(ip::Family family) {
  return family == ip::Family::kV4 ? PoolId::kIpv4 : PoolId::kIpv6;
}

/// One value of a pool.
struct PoolValue {
  PoolId pool = PoolId::kIpv4;
  U128 value = 0;

  bool operator==(const PoolValue&) const = default;
};

struct Claim {
  PoolId pool = PoolId::kIpv4;
  std::optional<U128> wanted = {};  // Nothing: any.
};

/// What a record or a range of the picture says; made by the wiring, which knows the kinds.
struct RecordReader {
  /// By resource: the value a record is about; nothing: it is no record.
  std::function<std::optional<PoolValue>(const state::Object& object)> value = {};
  /// By resource: whether it is one of the objects that ranges are made of.
  std::function<bool(const state::Object& object)> is_range = {};
  /// The rows of such an object, by pool.
  std::function<std::vector<std::pair<PoolId, alloc::RangeRow>>(const state::Object& object)> rows =
      {};
};

class Allocations final : public state::Listener {
 public:
  Allocations(RecordReader reader, const base::SeededRandom& random);
  ~Allocations() override;

  /// Calls back when a write in flight that the denial depends on is settled. False: that has
  /// happened already, so it is worth trying again at once.
  using Wait = std::function<bool(std::function<void()> again)>;

  struct Denial {
    size_t claim = 0;  // The first that could not be granted.
    alloc::Outcome why = alloc::Outcome::kTaken;
    bool full = false;  // There was no value to pick.
    Wait wait = {};     // Empty: it holds.
  };

  /// A write's place in the queue for values of a pool that is full: null at first, kept from its
  /// first try until it is answered.
  class Ticket;
  using TicketPtr = std::shared_ptr<Ticket>;

  /// What a write takes and gives back. To be settled once.
  struct Grant {
    std::vector<U128> values = {};  // In the order of the claims.
    std::vector<PoolValue> takes = {};
    std::vector<PoolValue> gives = {};
  };

  /// All of the claims, or why not. `gives` are what the write gives back when it is committed.
  tl::expected<Grant, Denial> Plan(std::span<const Claim> claims, std::vector<PoolValue> gives,
                                   TicketPtr& ticket) EXCLUDES(mutex_);

  /// It is known what became of the write, and the picture shows it if it was committed.
  void Settle(const Grant& grant) EXCLUDES(mutex_);

  /// Families that have a range, in the order of the ranges.
  std::vector<ip::Family> Families() const EXCLUDES(mutex_);

  /// For messages, metrics and people.
  struct RangeState {
    PoolId pool = PoolId::kIpv4;
    std::string name = {};
    std::string text = {};
    std::optional<alloc::Interval> static_band = {};
    std::optional<alloc::Interval> dynamic_band = {};
    alloc::StateCounts in_static = {};
    alloc::StateCounts in_dynamic = {};
  };
  std::vector<RangeState> Ranges() const EXCLUDES(mutex_);
  bool IsHeld(const PoolValue& value) const EXCLUDES(mutex_);
  /// "10.96.0.0/16": of the first range that has the value; empty: none has it.
  std::string RangeOf(const PoolValue& value) const EXCLUDES(mutex_);

  void OnBatch(const std::vector<state::Change>& changes, int64_t revision) override
      EXCLUDES(mutex_);
  void OnReset(const std::vector<state::Change>& changes, int64_t revision) override
      EXCLUDES(mutex_);

 private:
  /// A value that writes in flight are about.
  struct Flight {
    bool taken = false;   // By a write in flight,
    bool given = false;   // or given back.
    bool stored = false;  // There is a record.
    std::vector<std::function<void()>> waiting = {};
  };
  /// One that wants any values of a pool.
  struct Place {
    size_t needs = 0;
    std::function<void()> again = {};  // Empty: about to try.
  };
  struct PoolState {
    alloc::Pool pool = {};
    std::map<U128, Flight> flights = {};
    std::map<uint64_t, Place> queue = {};  // By ticket: the oldest first.
    uint64_t changes = 0;                  // Denials from before the last one are old.
  };
  /// A plan being made.
  struct Planning {
    Grant grant = {};
    TicketPtr& ticket;
    std::array<size_t, kPools> needs = {};  // Values of any kind, yet to be picked.
    std::array<bool, kPools> its_turn = {};
  };
  using Calls = std::vector<std::function<void()>>;

  PoolState& At(PoolId pool) REQUIRES(mutex_) { return pools_[static_cast<size_t>(pool)]; }
  tl::expected<Grant, Denial> PlanAll(std::span<const Claim> claims, std::vector<PoolValue> gives,
                                      TicketPtr& ticket, Calls& calls) EXCLUDES(mutex_);
  std::optional<Denial> TakeOne(const Claim& claim, Planning& planning) REQUIRES(mutex_);
  std::optional<Denial> TakeWanted(const Claim& claim, Planning& planning) REQUIRES(mutex_);
  std::optional<Denial> TakeAny(PoolId pool, Planning& planning) REQUIRES(mutex_);
  std::optional<Denial> AwaitTurn(PoolId pool, Planning& planning) REQUIRES(mutex_);
  Denial Full(PoolId pool, bool others_first, Planning& planning) REQUIRES(mutex_);
  Wait WaitForValue(const PoolValue& value) REQUIRES(mutex_);
  Wait WaitInQueue(PoolId pool, Planning& planning) REQUIRES(mutex_);
  void Granted(const PoolValue& value, Grant& grant) REQUIRES(mutex_);
  void Undo(const Grant& grant) REQUIRES(mutex_);
  void Settled(const PoolValue& value, bool taken, Calls& calls) REQUIRES(mutex_);
  void Changed(PoolState& state, Calls& calls) REQUIRES(mutex_);
  void LeaveQueues(const Ticket& ticket, Calls& calls) REQUIRES(mutex_);
  void Leave(const Ticket& ticket) EXCLUDES(mutex_);
  void Apply(const std::vector<state::Change>& changes) EXCLUDES(mutex_);
  void ApplyRecord(const PoolValue& value, bool stored, Calls& calls) REQUIRES(mutex_);
  void RebuildRanges() REQUIRES(mutex_);

  const RecordReader reader_;

  mutable base::Mutex mutex_;
  base::SeededRandom random_ GUARDED_BY(mutex_);
  std::array<PoolState, kPools> pools_ GUARDED_BY(mutex_);
  /// What ranges are made of, by key.
  std::map<std::string, state::ObjectPtr> range_objects_ GUARDED_BY(mutex_);
  std::vector<ip::Family> families_ GUARDED_BY(mutex_);
  uint64_t next_ticket_ GUARDED_BY(mutex_) = 1;
};

}  // namespace berth::commit
