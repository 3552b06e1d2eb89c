// Checks everything that is known about one value. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alloc/pool_id.h"
#include "alloc/state.h"
#include "audit/facts.h"
#include "audit/port_use_table.h"
#include "audit/range_checks.h"
#include "audit/service_table.h"
#include "audit/value_table.h"
#include "audit/words.h"

namespace berth::audit {

/// What most records do not have.
struct RecordExtras {
  RecordState state = RecordState::kAllocated;
  std::string service_uid = {};  // Only if it was not compared yet, or differs.
  std::string reserved_for = {};
  std::string wrong_family = {};  // Only if it is wrong.
  // How the record says that the port is used. Only if it was not compared yet, or differs.
  std::optional<bool> health_check = {};
  std::optional<std::vector<PortUse>> ports = {};
};

/// Everything that the checks of a value look at.
struct ValueWorld {
  Keeps keeps = Keeps::kRecords;
  const ServiceTable& services;
  const RangeChecks& ranges;
  const std::vector<RecordExtras>& extras;
  const PortUseTable& port_uses;
  const alloc::PerPool<std::optional<BitmapFacts>>& bitmaps;
};

/// Calls `found` with each kind of finding about the value.
void CheckValue(const ValueWorld& world, alloc::PoolId pool, const ValueView& view,
                const std::function<void(FindingKind kind)>& found);

/// Returns the state that the value has in the counts of its ranges.
alloc::State StateOf(const ValueWorld& world, const ValueView& view);

/// Returns what the sentences about the value say.
ValueWords WordsOf(const ValueWorld& world, alloc::PoolId pool, const ValueView& view);

}  // namespace berth::audit
