// What both forms of allocations should hold according to the Services of a snapshot, and what
// bitmaps have no room for. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "alloc/range_table.h"
#include "allocation/bitmaps/bitmap_ranges.h"
#include "allocation/ledger/ledger.h"
#include "allocation/records.h"
#include "registry/kind_rows.h"
#include "rules/service_claims.h"
#include "state/snapshot.h"

namespace berth::allocation {

/// A Service of a snapshot, and the values that it holds.
struct HoldingService {
  const state::Object& object;
  codec::Value service;
  std::vector<PoolValue> values;  // Addresses first.
};
/// Calls `visit` for each Service that holds any values. Decoding takes some microseconds for each
/// Service.
void EachHoldingService(const registry::Row& services, const state::Snapshot& snapshot,
                        const std::function<void(const HoldingService& service)>& visit);

/// The ranges of a snapshot as bitmaps hold them.
struct BitmapWorld {
  alloc::RangeTable table = {};  // All ranges.
  PoolBitmaps bitmaps = {};
};
BitmapWorld BitmapWorldOf(const RecordRows& rows, const registry::Gates& gates,
                          const state::Snapshot& snapshot);

/// What blocks a switch.
struct FormBlockers {
  std::vector<std::string> named = {};  // The first of them.
  uint64_t total = 0;
  bool for_ever = false;  // One of them cannot be left out by force.
};
FormBlockers FindFormBlockers(const RecordRows& rows, const registry::Row& services,
                              const BitmapWorld& world, const state::Snapshot& snapshot);
/// Returns which values two or more Services hold, each with two of them. While there are such
/// values, no form can say what is true.
FormBlockers FindSharedValues(const registry::Row& services, const state::Snapshot& snapshot);
/// Returns "a; b; and 3 more".
std::string FormBlockersText(const FormBlockers& blockers);

}  // namespace berth::allocation
