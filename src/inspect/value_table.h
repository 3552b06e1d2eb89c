// The values in use of a part of a range as rows, a page at a time. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alloc/layout.h"
#include "inspect/census.h"
#include "inspect/matches.h"
#include "inspect/range_map.h"
#include "inspect/used_values.h"

namespace berth::inspect {

inline constexpr size_t kMostTableRows = 200;

struct TableRow {
  base::U128 value = 0;
  alloc::State state = alloc::State::kTaken;
  std::string owner = {};            ///< "shop/web"; may be empty.
  const Service* service = nullptr;  ///< Null if only a record says that the value is not free.
  Origin origin = Origin::kUnknown;
  std::optional<alloc::Band> band = {};  ///< Nullopt if the range cannot give the value out.
  std::optional<base::WallTime> since = {};
  CellMark mark = CellMark::kTaken;
};

struct ValueTable {
  uint64_t total = 0;  ///< Of all pages.
  std::vector<TableRow> rows = {};
  std::optional<base::U128> next = {};  ///< Give it as `after` for the rows that follow.
};

/// Returns the values of `part` that match; without a text all do. Rows begin
/// after the value `after`.
ValueTable MakeValueTable(const Census& census, const UsedValues& used, const RangeRef& range,
                          const alloc::Interval& part, const Matches& matches,
                          const std::optional<base::U128>& after);

}  // namespace berth::inspect
