// Which addresses and ports are taken, and the takes of writes on their way. It follows the store's
// records, ranges and fences as a listener of the picture; a value is taken if a record says so or
// a write in flight takes it. So it can be built anew from the store at any moment, and what a
// write took is free again when the write has failed, not earlier and not later.
//
// - A take counts from the moment it is granted, a give-back only when it is committed.
// - A write is granted all of its claims or none.
// - A value that is kept for a Service goes to that one only: it gets it if it asks for any value,
//   and may ask for it.
// - A denial holds in committed state. One that a write in flight could change says how to wait for
//   that; those who wait for any value of a full range are served in order, ahead of who comes
//   later. While ranges of a pool are closing (see alloc/range_table.h) no denial of it holds.
// - A grant is made on ranges as they were at a revision of their fences; its write compares these.
//   The same goes for the form that the store keeps allocations in (allocation_form.h): where
//   bitmaps count, a value is taken if its bit is set, and ranges are what bitmaps have room for.
// - Writes of range objects that change nothing of what they say cost reading them and no more.
//
// Threads: every function may be called from any thread; callbacks are called with no lock held, on
// the thread that settled what they waited for. Grants and tickets must not outlive it.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/bitmap_ranges.h"
#include "alloc/pool.h"
#include "alloc/range_table.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "commit/allocation_form.h"
#include "ip/addr.h"
#include "state/change.h"

namespace berth::commit {

using alloc::kPools;
using alloc::PoolId;
using alloc::PoolOf;
using alloc::U128;

/// One value of a pool.
struct PoolValue {
  PoolId pool = PoolId::kIpv4;
  U128 value = 0;

  bool operator==(const PoolValue&) const = default;
};

/// The Service that a write is about.
struct Claimant {
  std::string_view name_space = {};
  std::string_view name = {};
};

struct Claim {
  PoolId pool = PoolId::kIpv4;
  std::optional<U128> wanted = {};  // Nothing: any.
  std::string range = {};           // The name of the range it must come from; empty: any.
};

enum class RecordState : uint8_t {
  kAllocated,  // A Service has it.
  kReserved,   // Nobody may take it, or one Service only.
  kPending,    // Held for one Service, for a while.
  kCooling,    // Given back a while ago: picks avoid it.
};

/// What a record says.
struct RecordInfo {
  PoolValue value = {};
  RecordState state = RecordState::kAllocated;
  /// "namespace/name" of the Service it is kept for, if any. Of an allocated one: it is reserved
  /// for that again when it is given back.
  std::string reserved_for = {};
};

/// What an object of the picture says to the allocator, by its resource; made by the wiring, which
/// knows the kinds. Pure; called from the listener's thread.
struct RecordReader {
  /// Nothing: it is no record.
  std::function<std::optional<RecordInfo>(const state::Object& object)> record = {};
  /// Nothing: it is none of the objects that ranges are made of.
  std::function<std::optional<alloc::RangeFacts>(const state::Object& object)> facts = {};
  /// Of a fence: its pool, and what is closing. Nothing: it is no fence.
  std::function<std::optional<std::pair<PoolId, std::optional<alloc::Closing>>>(
      const state::Object& object)>
      closing = {};
  /// Of the note that says it: the form of allocations. Nothing: it is not that. Empty: there are
  /// records only.
  std::function<std::optional<AllocationForm>(const state::Object& object)> form = {};
  /// Which bitmap it is; nothing: it is none. Empty: there are none.
  std::function<std::optional<alloc::BitmapId>(const state::Object& object)> bitmap = {};
};

class Allocations final : public state::Listener {
 public:
  Allocations(RecordReader reader, const base::SeededRandom& random);
  ~Allocations() override;

  /// Calls back when something that the denial depends on has changed. False: that has happened
  /// already, so it is worth trying again at once.
  using Wait = std::function<bool(std::function<void()> again)>;

  enum class Why : uint8_t {
    kTaken,
    kReserved,  // For somebody else, or for nobody.
    kExcluded,
    kOutOfRange,    // No range has it.
    kNotOpen,       // Nothing new is taken from the ranges that have it, or from the named one.
    kNotInRange,    // The named range has no such value.
    kUnknownRange,  // There is no range of that name.
    kFull,          // There was no value to pick.
  };
  struct Denial {
    size_t claim = 0;  // The first that could not be granted.
    Why why = Why::kTaken;
    std::string reserved_for = {};  // kReserved: "namespace/name"; empty: for nobody.
    Wait wait = {};                 // Empty: it holds.
  };

  /// A write's place in the queue for values of a pool that is full: null at first, kept from its
  /// first try until it is answered.
  class Ticket;
  using TicketPtr = std::shared_ptr<Ticket>;

  struct Take {
    PoolValue value = {};
    /// The revision of the record that is there and must be replaced; 0: there must be none.
    int64_t replaces = 0;
    std::string reserved_for = {};  // What the new record must go on to say.
  };
  struct Give {
    enum class Becomes : uint8_t { kGone, kReserved, kCooling };

    PoolValue value = {};
    Becomes becomes = Becomes::kGone;  // The record.
    std::string reserved_for = {};     // kReserved: for whom, and
    int64_t revision = 0;              // which record it is that becomes so.
    std::chrono::seconds cool_down{0};
  };
  /// What a write takes and gives back. To be settled once.
  struct Grant {
    std::vector<U128> values = {};  // In the order of the claims.
    std::vector<Take> takes = {};   // In the same order.
    std::vector<Give> gives = {};
    /// By pool, the revision of the fence that the ranges were read at; 0: there was none.
    std::array<int64_t, kPools> fences = {};
    /// What the write has to keep, and the revision of the note that says so; 0: there was none.
    AllocationForm form = AllocationForm::kRecords;
    int64_t form_revision = 0;
    std::shared_ptr<const alloc::PoolBitmaps> bitmaps = {};  // Null: none are written.
  };

  /// All of the claims, or why not. `gives` are what the write gives back when it is committed.
  tl::expected<Grant, Denial> Plan(const Claimant& claimant, std::span<const Claim> claims,
                                   std::span<const PoolValue> gives, TicketPtr& ticket)
      EXCLUDES(mutex_);

  /// It is known what became of the write, and the picture shows it if it was committed.
  void Settle(const Grant& grant) EXCLUDES(mutex_);

  /// Calls back when the fence of a pool is behind this revision; false: it is already.
  bool AwaitFence(PoolId pool, int64_t revision, std::function<void()> again) EXCLUDES(mutex_);

  /// How the store keeps allocations, at which revision of the note about it, and which bitmaps
  /// there are; null: none.
  struct FormState {
    AllocationForm form = AllocationForm::kRecords;
    int64_t revision = 0;
    std::shared_ptr<const alloc::PoolBitmaps> bitmaps = {};
  };
  FormState Form() const EXCLUDES(mutex_);

  /// Families of which there is an open range, the default one first.
  std::vector<ip::Family> Families() const EXCLUDES(mutex_);

  /// For status, messages, metrics and people. Counts cost nothing; what copies all ranges takes
  /// time in proportion to them.
  struct RangeState {
    PoolId pool = PoolId::kIpv4;
    std::string name = {};
    std::string text = {};
    std::optional<alloc::Interval> static_band = {};
    std::optional<alloc::Interval> dynamic_band = {};
    alloc::StateCounts in_static = {};  // Free, taken, reserved, cooling and excluded.
    alloc::StateCounts in_dynamic = {};
    U128 usable = 0;
    int64_t priority = 0;
    alloc::RangeKind kind = alloc::RangeKind::kIpRange;
    bool open = true;
    bool leaving = false;
    bool overlaps = false;  // It has values that another range has.
    bool closing = false;   // Its pool is: for a moment counts are without what it may lose.
    bool in_force = true;   // Else bitmaps have no room for it.
  };
  std::vector<RangeState> Ranges() const EXCLUDES(mutex_);
  std::vector<RangeState> Ranges(PoolId pool) const EXCLUDES(mutex_);
  /// All, and behind them those that are not in force, of which nothing is counted.
  std::vector<RangeState> RangesInForceOrNot() const EXCLUDES(mutex_);
  std::optional<RangeState> RangeNamed(PoolId pool, std::string_view name) const EXCLUDES(mutex_);
  /// The smallest that has the value.
  std::optional<RangeState> RangeWith(const PoolValue& value) const EXCLUDES(mutex_);
  /// "10.96.0.0/16": of that one; empty: none has it.
  std::string RangeOf(const PoolValue& value) const EXCLUDES(mutex_);
  /// The smallest that has the value, if not even the one that it is kept for could take it: none
  /// that has it is open and gives it out.
  std::optional<RangeState> RangeThatWithholds(const PoolValue& value) const EXCLUDES(mutex_);
  /// What is kept for Services that do not have it, in ascending order.
  struct KeptValue {
    U128 value = 0;
    std::string service = {};  // "namespace/name".
  };
  std::vector<KeptValue> KeptValues(PoolId pool) const EXCLUDES(mutex_);
  /// Whether there is a record of it, or a write takes it.
  bool IsHeld(const PoolValue& value) const EXCLUDES(mutex_);
  /// Grows with everything that changes what Ranges says.
  uint64_t Changes() const EXCLUDES(mutex_);
  /// How often the table of ranges was made.
  uint64_t TablesMade() const EXCLUDES(mutex_);

  void OnBatch(const std::vector<state::Change>& changes, int64_t revision) override
      EXCLUDES(mutex_);
  void OnReset(const std::vector<state::Change>& changes, int64_t revision) override
      EXCLUDES(mutex_);

 private:
  /// A value that writes in flight are about.
  struct Flight {
    bool taken = false;                         // By a write in flight,
    bool given = false;                         // or given back.
    alloc::State stored = alloc::State::kFree;  // What the record says; free: there is none.
    std::vector<std::function<void()>> waiting = {};
  };
  /// One that wants any values of a pool, or of one of its ranges.
  struct Place {
    size_t needs = 0;
    std::string range = {};            // Empty: any.
    size_t needs_in_range = 0;         // How many of them.
    std::function<void()> again = {};  // Empty: about to try.
  };
  /// A value that is kept for a Service, also while that has it.
  struct Kept {
    std::string service = {};  // "namespace/name".
    RecordState state = RecordState::kReserved;
    int64_t revision = 0;
  };
  struct PoolState {
    alloc::Pool pool = {};
    std::map<U128, Flight> flights = {};
    std::map<uint64_t, Place> queue = {};  // By ticket: the oldest first.
    size_t named_places = 0;               // How many of them name a range.
    uint64_t changes = 0;                  // Denials from before the last one are old.
    std::map<U128, Kept> kept = {};
    absl::flat_hash_map<U128, int64_t, alloc::ValueHash> cooling = {};  // Revisions of records.
    bool cools = false;      // Some range has a cool-down.
    bool closing = false;    // Ranges of it are.
    int64_t fence = 0;       // Its revision; 0: there is none.
    int64_t fence_told = 0;  // Of the last that was told of it, its end too.
  };
  /// What those ahead in a queue need.
  struct Ahead {
    U128 total = 0;
    std::map<std::string_view, U128> in_range = {};
  };
  /// A plan being made.
  struct Planning {
    const Claimant& claimant;
    std::span<const Claim> claims;
    TicketPtr& ticket;
    size_t at = 0;  // The claim that is looked at.
    Grant grant = {};
    std::array<size_t, kPools> needs = {};  // Values that are yet to be picked.
    /// By pool: for which range it is its turn; empty: for any.
    std::array<std::optional<std::string_view>, kPools> turns = {};
  };
  /// What the picture says of a record, a range or a fence.
  struct RecordChange {
    RecordInfo info = {};
    int64_t revision = 0;  // 0: it is gone.
  };
  struct RangeChange {
    std::string key = {};
    std::optional<alloc::RangeFacts> facts = {};  // Nothing: it is gone.
  };
  struct FenceChange {
    PoolId pool = PoolId::kIpv4;
    int64_t revision = 0;  // 0: it is gone.
    int64_t told = 0;
    std::optional<alloc::Closing> closing = {};
  };
  /// What leads from the last bitmap to a new one.
  struct BitmapStep {
    PoolId pool = PoolId::kIpv4;
    std::vector<U128> taken = {};
    std::vector<U128> given = {};
  };
  /// What a batch says, in parts that must not overtake one another.
  struct Reading {
    std::vector<RangeChange> ranges = {};
    std::vector<FenceChange> fences = {};
    std::vector<BitmapStep> bits = {};
  };
  struct FenceWait {
    PoolId pool = PoolId::kIpv4;
    int64_t revision = 0;
    std::function<void()> again = {};
  };
  using Calls = std::vector<std::function<void()>>;
  using Range = alloc::Pool::Range;

  PoolState& At(PoolId pool) REQUIRES(mutex_) { return pools_[static_cast<size_t>(pool)]; }
  const PoolState& At(PoolId pool) const REQUIRES(mutex_) {
    return pools_[static_cast<size_t>(pool)];
  }

  tl::expected<Grant, Denial> PlanAll(const Claimant& claimant, std::span<const Claim> claims,
                                      std::span<const PoolValue> gives, TicketPtr& ticket,
                                      Calls& calls) EXCLUDES(mutex_);
  std::optional<Denial> TakeOne(const Claim& claim, Planning& planning) REQUIRES(mutex_);
  std::optional<Denial> TakeWanted(const Claim& claim, Planning& planning) REQUIRES(mutex_);
  std::optional<Denial> TakeAny(const Claim& claim, const Range* range, Planning& planning)
      REQUIRES(mutex_);
  bool TakeKept(PoolId pool, const Range* range, Planning& planning) REQUIRES(mutex_);
  Denial Deny(PoolId pool, Why why) REQUIRES(mutex_);
  void Granted(const PoolValue& value, alloc::State before, Grant& grant) REQUIRES(mutex_);
  Give GiveBack(const PoolValue& value) REQUIRES(mutex_);
  void Undo(const Grant& grant) REQUIRES(mutex_);
  void Settled(const PoolValue& value, bool taken, Calls& calls) REQUIRES(mutex_);

  // Waiting: allocations_queue.cc.
  std::optional<Denial> AwaitTurn(const Claim& claim, const Range* range, Planning& planning)
      REQUIRES(mutex_);
  Denial Full(const Claim& claim, const Range* range, bool others_first, Planning& planning)
      REQUIRES(mutex_);
  Wait WaitForValue(const PoolValue& value) REQUIRES(mutex_);
  Wait WaitForTable() REQUIRES(mutex_);
  Wait WaitInQueue(const Claim& claim, Planning& planning) REQUIRES(mutex_);
  static Place PlaceOf(const Claim& claim, const Planning& planning);
  static Ahead AheadOf(const PoolState& state, const Planning& planning);
  static const Range* RangeBeside(const PoolState& state, const Planning& planning);
  static bool IsShort(const PoolState& state, const Range& range, const Place& place);
  static size_t OtherClaim(const Claim& claim, const Planning& planning);
  static bool IsEnough(const PoolState& state, const Place& place, const Ahead& ahead);
  static void AddAhead(const PoolState& state, const Place& place, Ahead& ahead);
  static bool MayComeFree(const PoolState& state, const Place& place);
  void Changed(PoolState& state, Calls& calls) REQUIRES(mutex_);
  void LeaveQueues(const Ticket& ticket, Calls& calls) REQUIRES(mutex_);
  void Leave(const Ticket& ticket) EXCLUDES(mutex_);

  // Following the store: allocations_follow.cc.
  void Apply(const std::vector<state::Change>& changes, Calls& calls) EXCLUDES(mutex_);
  void Read(const state::Change& change, Reading& reading, Calls& calls) EXCLUDES(mutex_);
  void ApplyValues(Reading& reading, Calls& calls) EXCLUDES(mutex_);
  void PutStored(const PoolValue& value, alloc::State stored, Calls& calls) REQUIRES(mutex_);
  void ApplyRecord(const RecordInfo& info, int64_t revision, Calls& calls) REQUIRES(mutex_);
  void Note(const RecordInfo& info, int64_t revision) REQUIRES(mutex_);
  void Keep(const PoolValue& value, Kept kept) REQUIRES(mutex_);
  void KeepNoLonger(const PoolValue& value) REQUIRES(mutex_);
  bool ApplyRanges(std::vector<RangeChange> ranges, std::vector<FenceChange> fences, Calls& calls)
      REQUIRES(mutex_);
  void MakeTable(Calls& calls) REQUIRES(mutex_);

  // The form of allocations, and bitmaps: allocations_bitmaps.cc.
  std::optional<AllocationForm> ReadForm(const state::Change& change) const;
  void SetForm(AllocationForm form, int64_t revision, Calls& calls) EXCLUDES(mutex_);
  void ReadBitmap(const state::Change& change, alloc::BitmapId id, Reading& reading);
  void ApplyBits(const BitmapStep& step, Calls& calls) REQUIRES(mutex_);
  void BeginAnew() REQUIRES(mutex_);
  void HoldWhatCounts(Calls& calls) REQUIRES(mutex_);

  const RecordReader reader_;
  // Only the listener's thread uses these.
  std::vector<RecordChange> read_ = {};
  AllocationForm form_read_ = AllocationForm::kRecords;
  std::array<state::ObjectPtr, 3> bitmap_objects_ = {};  // The last there was, by BitmapId.

  mutable base::Mutex mutex_;
  base::SeededRandom random_ GUARDED_BY(mutex_);
  std::array<PoolState, kPools> pools_ GUARDED_BY(mutex_);
  /// What is kept for each Service.
  std::map<std::string, std::vector<PoolValue>> kept_for_ GUARDED_BY(mutex_);
  /// What the table of ranges is made of.
  alloc::RangeObjects range_objects_ GUARDED_BY(mutex_);
  alloc::Closings closings_ GUARDED_BY(mutex_);
  std::vector<ip::Family> families_ GUARDED_BY(mutex_);
  std::vector<RangeState> left_out_ GUARDED_BY(mutex_);
  uint64_t tables_made_ GUARDED_BY(mutex_) = 0;
  FormState form_ GUARDED_BY(mutex_);
  /// By pool, records that were seen while bitmaps count. Nobody reserves anything meanwhile.
  std::array<absl::flat_hash_set<U128, alloc::ValueHash>, kPools> other_records_ GUARDED_BY(mutex_);
  uint64_t earlier_changes_ GUARDED_BY(mutex_) = 0;  // Of pools that are no more.
  Calls waiting_for_table_ GUARDED_BY(mutex_);
  std::vector<FenceWait> waiting_for_fences_ GUARDED_BY(mutex_);
  uint64_t next_ticket_ GUARDED_BY(mutex_) = 1;
};

/// Its number says how long it has been waiting, the same in every queue: so of two writes each of
/// which wants what the other is first for, one is first for both.
class Allocations::Ticket {
 public:
  Ticket(Allocations& owner, uint64_t number) : number_(number), owner_(owner) {}
  ~Ticket() { owner_.Leave(*this); }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  uint64_t Number() const { return number_; }

 private:
  const uint64_t number_;
  Allocations& owner_;
};

}  // namespace berth::commit
