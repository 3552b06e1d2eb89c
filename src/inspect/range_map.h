// Draws a range as cells: each cell stands for one value, or for many values next to each other,
// and knows how many of them are in which state. The cells of any part of a range can be asked for,
// so a reader can look closer and closer. Pure.
//
// The time that it takes depends on the values in use in the part and on the number of cells, never
// on the size of the part. So a /64 costs no more than a /24.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "alloc/layout.h"
#include "alloc/state.h"
#include "base/uint128.h"
#include "inspect/census.h"

namespace berth::inspect {

/// The most cells that are made at once. Who asks for more gets larger cells.
inline constexpr size_t kMostCells = size_t{1} << 16;

/// How a cell looks: the state that most of its values have, among those that are not free.
enum class CellMark : uint8_t {
  kFreeStatic,  ///< All are free, and at least one is in the static band.
  kFree,
  kTaken,
  kNamedInDynamic,  ///< A client named a value of the dynamic band.
  kSpill,           ///< The allocator picked a value of the static band.
  kReserved,
  kCooling,
  kTwice,     ///< Several Services have a value. Always shown.
  kExcluded,  ///< No value of the cell can be given out.
};
inline constexpr size_t kCellMarks = 9;
/// Returns "freeStatic", "namedInDynamic" and so on.
std::string_view NameOf(CellMark mark);

struct MapCell {
  alloc::Interval values = {};
  /// All values by their state. Values of the part that lie outside the range's span count as
  /// excluded.
  alloc::StateCounts counts = {};
  uint64_t named_in_dynamic = 0;  ///< Of the taken ones.
  uint64_t spill = 0;             ///< Of the taken ones.
  uint64_t twice = 0;             ///< Of the taken ones.
  bool has_static = false;        ///< A usable value of the cell is in the static band.
  bool has_dynamic = false;

  base::U128 Usable() const { return counts.Total() - counts[alloc::State::kExcluded]; }
  base::U128 Used() const { return Usable() - counts[alloc::State::kFree]; }
  /// Returns how much of the usable values is not free, 0 to 1.
  double Fill() const;
  CellMark Mark() const;

  /// Counts a value that a Service has.
  void CountTaken(const alloc::Layout& layout, base::U128 value, Origin origin);

  /// Adds the counts of another cell. The values are those of both.
  void Add(const MapCell& other);
};

/// Returns the cells of a part of the range in ascending order. All have the same number of values,
/// except that the last one may have fewer. There are at most `cells` and at most kMostCells.
std::vector<MapCell> MapCells(const Census& census, const RangeRef& range,
                              const alloc::Interval& part, size_t cells);

/// Returns the same with cells of `cell_size` values, or of more if there would be too many.
std::vector<MapCell> MapCellsOfSize(const Census& census, const RangeRef& range,
                                    const alloc::Interval& part, base::U128 cell_size);

/// Into how many parts each step of a zoom cuts.
inline constexpr unsigned kZoomParts = 16;

/// Returns the part of `whole` that contains `at` after `depth` steps. Each step takes one of 16
/// parts. Parts of 16 values or fewer are not cut any further.
alloc::Interval ZoomedPart(const alloc::Interval& whole, base::U128 at, unsigned depth);

}  // namespace berth::inspect
