// What both forms of allocations should hold, as the Services of a picture say it, and what the
// form of bitmaps has no room for. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "alloc/bitmap_ranges.h"
#include "alloc/range_table.h"
#include "commit/allocations.h"
#include "registry/kinds.h"
#include "registry/records.h"
#include "rules/service_claims.h"
#include "state/snapshot.h"

namespace berth::controllers {

/// A Service of a picture, and what it holds.
struct HoldingService {
  const state::Object& object;
  codec::Value service;
  std::vector<commit::PoolValue> values;  // Addresses first.
};
/// Those that hold anything. Reading all of them takes some microseconds each.
void EachHoldingService(const registry::Row& services, const state::Snapshot& picture,
                        const std::function<void(const HoldingService& service)>& visit);
std::vector<commit::PoolValue> ValuesOf(const codec::Value& service);

/// The ranges of a picture as bitmaps hold them.
struct BitmapWorld {
  alloc::RangeTable table = {};  // All ranges.
  alloc::PoolBitmaps bitmaps = {};
};
BitmapWorld BitmapWorldOf(const registry::RecordRows& rows, const registry::Gates& gates,
                          const state::Snapshot& picture);

/// What stands in the way of bitmaps.
struct FormBlockers {
  std::vector<std::string> named = {};  // The first of them.
  uint64_t total = 0;
  bool for_ever = false;  // There is one that cannot be left out.
};
FormBlockers FindFormBlockers(const registry::RecordRows& rows, const registry::Row& services,
                              const BitmapWorld& world, const state::Snapshot& picture);
/// "a; b; and 3 more".
std::string FormBlockersText(const FormBlockers& blockers);

}  // namespace berth::controllers
