// A tile of the map of a range: 4096 cells of 2^bits values each. Only cells in which something is
// not free are listed; the others are told in runs. So a tile is small however large the range is.
// Pure.
//
// The time that it takes depends on the values in use in the tile and on the exclusions of the
// range, not on its size. An empty part costs a search in a sorted list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/uint128.h"
#include "inspect/census.h"
#include "inspect/matches.h"
#include "inspect/range_map.h"
#include "inspect/used_values.h"

namespace berth::inspect {

inline constexpr size_t kTileCells = 4096;
inline constexpr unsigned kMostTileBits = 126;

/// Which tile: it begins at offset `index` * 4096 * 2^`bits` of the range.
struct TilePlace {
  unsigned bits = 0;  ///< Even, at most kMostTileBits.
  base::U128 index = 0;
};

/// A cell in which something is not free.
struct TileCell {
  uint32_t cell = 0;
  CellMark mark = CellMark::kTaken;
  base::U128 used = 0;
  base::U128 usable = 0;
  uint64_t named = 0;
  uint64_t drawn = 0;
  uint32_t name_space = 0;  ///< The one that holds most, a position in UsedValues::namespaces.
  uint8_t type = 0;         ///< The one that holds most, a position in UsedValues::types.
  uint32_t newest = 0;      ///< The newest creation, seconds since 1970; 0 if unknown.
  std::string owner = {};   ///< "shop/web" if the cell is one value and has an owner.
  uint64_t matches = 0;     ///< Values that match the filter.
};

/// Cells next to each other in which nothing is in use.
struct TileRun {
  uint32_t first = 0;
  uint32_t count = 0;
  std::optional<CellMark> mark = {};  ///< Nullopt if no value of the cells belongs to the range.

  bool operator==(const TileRun&) const = default;
};

struct Tile {
  std::vector<TileRun> runs = {};    ///< Ascending. Together with the cells they are all.
  std::vector<TileCell> cells = {};  ///< Ascending.
};

/// Fails with kInvalid if there is no such tile. Each cell says how many of its values match;
/// without a text no value does.
base::Result<Tile> MakeTile(const UsedValues& used, const RangeRef& range, const TilePlace& place,
                            const Matches& matches);

/// Returns how one value in use looks in a range.
CellMark MarkOf(const RangeRef& range, const UsedValue& used);

}  // namespace berth::inspect
