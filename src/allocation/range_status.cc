#include "allocation/range_status.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "allocation/ledger/ledger_view.h"
#include "allocation/records.h"
#include "base/uint128.h"
#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::allocation {
namespace {

using alloc::State;
using alloc::U128;
using codec::Value;

int64_t Saturated(U128 count) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return count > static_cast<uint64_t>(kMost) ? kMost : static_cast<int64_t>(count);
}

Value BandOf(alloc::PoolId pool, const alloc::Interval& span, const alloc::StateCounts& counts) {
  return codec::Object{{"first", RecordName({.pool = pool, .value = span.first})},
                       {"last", RecordName({.pool = pool, .value = span.last})},
                       {"free", Saturated(counts[State::kFree])},
                       {"used", Saturated(counts[State::kTaken])}};
}

struct Verdict {
  bool is = false;
  std::string_view reason;
  std::string message;
};

const Value* ConditionOf(const Value& range, std::string_view type) {
  for (const Value& condition : codec::ArrayAt(range, "status", "conditions")) {
    if (codec::StringAt(condition, "type") == type) return &condition;
  }
  return nullptr;
}

/// Sets the generation that the status is about. Objects that are older than generations have none.
void SetGeneration(const Value& range, codec::Object& about) {
  const int64_t generation = codec::IntAt(range, "metadata", "generation");
  if (generation != 0) about.Set("observedGeneration", generation);
}

Value Condition(const Value& range, std::string_view type, Verdict verdict, base::WallTime now) {
  const std::string_view status = verdict.is ? "True" : "False";
  const Value* before = ConditionOf(range, type);
  const bool same = before != nullptr && codec::StringAt(*before, "status") == status;
  codec::Object condition{
      {"type", type},
      {"status", status},
      {"lastTransitionTime",
       same ? std::string(codec::StringAt(*before, "lastTransitionTime")) : codec::FormatTime(now)},
      {"reason", verdict.reason},
      {"message", std::move(verdict.message)}};
  SetGeneration(range, condition);
  return condition;
}

/// Says, in each condition, that bitmaps have no room for the range.
Verdict NotInForce() {
  return {false, "NotInForce",
          "allocations are kept in bitmaps, which have one range of a family and one of node "
          "ports: nothing is given out of this one"};
}

Verdict Ready(const RangeState& state, U128 usable) {
  if (!state.in_force) return NotInForce();
  if (usable == 0) return {false, "NothingUsable", "the range has no value that can be given out"};
  if (state.leaving) return {false, "Terminating", "the range is being deleted"};
  if (state.makes_way) {
    return {false, "Draining",
            "its ServiceCIDR is being deleted: nothing new is taken from it as long as another "
            "range of its family can serve"};
  }
  if (!state.open)
    return {false, "Draining", "the range is disabled: nothing new is taken from it"};
  return {true, "Ready", "values can be taken from the range"};
}

Verdict Draining(const RangeState& state, U128 held) {
  if (!state.in_force) return NotInForce();
  if (state.open || state.leaving) return {false, "InUse", "the range is not disabled"};
  if (held == 0) return {true, "Drained", "nothing of the range is in use any more"};
  return {true, "Draining",
          fmt::format("{} of its values are still in use or reserved", base::ToDecimal(held))};
}

Verdict Overlapping(const RangeState& state) {
  if (!state.in_force) return NotInForce();
  if (!state.overlaps) return {false, "Alone", "no other range has values of it"};
  return {true, "SharedValues", "some of its values are in another range as well"};
}

Verdict Exhausted(const RangeState& state, bool strict) {
  if (!state.in_force) return NotInForce();
  const U128 dynamic_free = state.in_dynamic[State::kFree];
  const U128 static_free = state.in_static[State::kFree];
  if (dynamic_free > 0) return {false, "HasFree", "values can be drawn from the dynamic band"};
  if (strict || static_free == 0) return {true, "Exhausted", "no value can be drawn any more"};
  return {false, "StaticBandOnly",
          "the dynamic band is exhausted: values are drawn from the static band"};
}

/// Adds the condition Consistent, unless there never was a fault.
void AddConsistent(const Value& range, const std::optional<RangeFault>& fault, base::WallTime now,
                   codec::Array& conditions) {
  constexpr std::string_view kType = "Consistent";
  const Value* before = ConditionOf(range, kType);
  if (!fault) {
    if (before != nullptr) conditions.push_back(*before);
    return;
  }
  if (fault->reason.empty() && before == nullptr) return;
  conditions.push_back(Condition(
      range, kType,
      fault->reason.empty() ? Verdict{true, "NoFindings", "what is stored about its values agrees"}
                            : Verdict{false, fault->reason, fault->message},
      now));
}

}  // namespace

Value RangeStatusOf(const Value& range, const RangeState& state, base::WallTime now,
                    const RangeFaults& faults) {
  alloc::StateCounts all = state.in_static;
  all += state.in_dynamic;
  const U128 usable = all.Total() - all[State::kExcluded];
  codec::Object bands;
  if (state.static_band)
    bands.Set("static", BandOf(state.pool, *state.static_band, state.in_static));
  if (state.dynamic_band) {
    bands.Set("dynamic", BandOf(state.pool, *state.dynamic_band, state.in_dynamic));
  }
  const U128 used = all[State::kTaken];
  codec::Array conditions;
  const auto add = [&](std::string_view type, Verdict verdict) {
    conditions.push_back(Condition(range, type, std::move(verdict), now));
  };
  add("Ready", Ready(state, usable));
  add("Draining", Draining(state, used + all[State::kReserved]));
  add("Overlapping", Overlapping(state));
  add("Exhausted", Exhausted(state, codec::BoolAt(range, "spec", "strict")));
  add("Terminating",
      state.leaving
          ? Verdict{true, "Deleted", "the range is removed as soon as it has no finalizers"}
          : Verdict{false, "NotDeleted", "the range is not being deleted"});
  AddConsistent(range, faults.found, now, conditions);
  if (!faults.skew.reason.empty()) {
    add("ReplicasAgree", {false, faults.skew.reason, faults.skew.message});
  }
  codec::Object status{{"total", base::ToDecimal(usable)},
                       {"free", Saturated(all[State::kFree])},
                       {"used", Saturated(used)},
                       {"reserved", Saturated(all[State::kReserved])},
                       {"cooling", Saturated(all[State::kCooling])},
                       {"bands", std::move(bands)},
                       {"conditions", std::move(conditions)}};
  SetGeneration(range, status);
  return status;
}

}  // namespace berth::allocation
