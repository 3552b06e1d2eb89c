#include "inspect/tile.h"

#include <algorithm>
#include <array>
#include <span>

#include "inspect/names.h"
#include "inspect/range_shape.h"

namespace berth::inspect {
namespace {

using alloc::Band;
using alloc::Interval;
using alloc::State;
using base::U128;

constexpr unsigned kBitsOfTile = 12;
constexpr unsigned kBitsOfValue = 128;
static_assert(kTileCells == size_t{1} << kBitsOfTile);

void CountUsed(const alloc::Layout& layout, const UsedValue& used, MapCell& cell) {
  if (used.state != State::kTaken || used.owners == Owners::kNone) {
    cell.counts[used.state] += 1;
    return;
  }
  cell.CountTaken(layout, used.value, used.origin);
  cell.twice += used.owners == Owners::kSeveral ? 1 : 0;
}

/// Which of many things occurs most often, counted in place.
class MostOften {
 public:
  explicit MostOften(size_t things) : counts_(things) {}

  void Count(uint32_t thing) {
    if (thing == 0) return;
    if (counts_[thing]++ == 0) seen_.push_back(thing);
  }

  /// Returns the thing, 0 if none was counted, and begins anew. Of equal ones the first one wins.
  uint32_t Take() {
    uint32_t best = 0;
    uint32_t most = 0;
    for (const uint32_t thing : seen_) {
      if (counts_[thing] > most) {
        most = counts_[thing];
        best = thing;
      }
      counts_[thing] = 0;
    }
    seen_.clear();
    return best;
  }

 private:
  std::vector<uint32_t> counts_;
  std::vector<uint32_t> seen_;
};

/// Finds the parts of a range in which all values that are not in use look the same.
class EmptyParts {
 public:
  EmptyParts(const alloc::Layout& layout, const Interval& all) : layout_(layout), all_(all) {}

  struct Part {
    CellMark mark = CellMark::kExcluded;
    U128 last = 0;
  };
  Part At(U128 value) const {
    const auto& span = layout_.span();
    if (!span || value > span->last) return {.last = all_.last};
    if (value < span->first) return {.last = span->first - 1};
    const auto& excluded = layout_.excluded();
    const auto next = std::ranges::lower_bound(excluded, value, {}, &Interval::last);
    if (next != excluded.end() && next->Contains(value)) return {.last = next->last};
    const Band band = layout_.BandOf(value);
    U128 last = layout_.BandSpan(band)->last;
    if (next != excluded.end()) last = std::min(last, next->first - 1);
    return {.mark = band == Band::kStatic ? CellMark::kFreeStatic : CellMark::kFree, .last = last};
  }

  U128 CountExcluded(const Interval& values) const {
    const auto& span = layout_.span();
    const auto inside = span ? alloc::Intersection(values, *span) : std::nullopt;
    if (!inside) return values.Size();
    U128 count = values.Size() - inside->Size();
    const auto& excluded = layout_.excluded();
    auto each = std::ranges::lower_bound(excluded, inside->first, {}, &Interval::last);
    for (; each != excluded.end() && each->first <= inside->last; ++each) {
      count += alloc::Intersection(*each, *inside)->Size();
    }
    return count;
  }

 private:
  const alloc::Layout& layout_;
  const Interval all_;
};

class TileMaker {
 public:
  TileMaker(const UsedValues& used, const RangeRef& range, const Matches& matches)
      : used_(used),
        range_(range),
        layout_(range.row->layout),
        matches_(matches),
        all_(AllValuesOf(*range.row)),
        parts_(layout_, all_),
        namespaces_(used.namespaces().size()),
        types_(used.types().size()) {}

  Tile Make(unsigned bits, U128 offset) && {
    bits_ = bits;
    offset_ = offset;
    const U128 distance = all_.last - all_.first;
    uint32_t limit = 0;  // Later cells have no value of the range.
    if (offset <= distance) {
      const U128 rest = (distance - offset) >> bits;
      limit = rest < kTileCells ? static_cast<uint32_t>(rest) + 1 : uint32_t{kTileCells};
      AddCells(limit);
    }
    if (limit < kTileCells) {
      tile_.runs.push_back({.first = limit, .count = uint32_t{kTileCells} - limit});
    }
    return std::move(tile_);
  }

 private:
  Interval ValuesOf(uint32_t cell) const {
    const U128 first = all_.first + offset_ + (U128{cell} << bits_);
    const U128 more = (U128{1} << bits_) - 1;
    return {.first = first, .last = all_.last - first < more ? all_.last : first + more};
  }

  void AddCells(uint32_t limit) {
    const Interval values{.first = ValuesOf(0).first, .last = ValuesOf(limit - 1).last};
    const auto entries = used_.In(range_.pool, values);
    uint32_t next = 0;
    for (size_t i = 0; i < entries.size();) {
      const auto cell = static_cast<uint32_t>((entries[i].value - values.first) >> bits_);
      AddRuns(next, cell);
      i = AddCell(cell, entries, i);
      next = cell + 1;
    }
    AddRuns(next, limit);
  }

  size_t AddCell(uint32_t number, std::span<const UsedValue> entries, size_t first) {
    MapCell cell{.values = ValuesOf(number)};
    TileCell& told = tile_.cells.emplace_back(TileCell{.cell = number});
    U128 excluded = parts_.CountExcluded(cell.values);
    const bool may_be_excluded = excluded > 0;
    size_t next = first;
    for (; next < entries.size() && entries[next].value <= cell.values.last; ++next) {
      const UsedValue& entry = entries[next];
      CountUsed(layout_, entry, cell);
      told.named += entry.origin == Origin::kNamed ? 1 : 0;
      told.drawn += entry.origin == Origin::kDrawn ? 1 : 0;
      told.newest = std::max(told.newest, entry.created);
      namespaces_.Count(entry.name_space);
      types_.Count(entry.type);
      if (may_be_excluded && !layout_.GivesOut(entry.value)) --excluded;
      if (!matches_.empty() && matches_.Has(range_.pool, entry)) ++told.matches;
    }
    cell.counts[State::kExcluded] = excluded;
    cell.counts[State::kFree] = cell.values.Size() - cell.counts.Total();
    told.mark = cell.Mark();
    told.used = cell.Used();
    told.usable = cell.Usable();
    told.name_space = namespaces_.Take();
    told.type = static_cast<uint8_t>(types_.Take());
    if (cell.values.first == cell.values.last) told.owner = used_.OwnerOf(entries[first]);
    return next;
  }

  /// Adds the cells from `cell` to before `end`, in which nothing is in use.
  void AddRuns(uint32_t cell, uint32_t end) {
    while (cell < end) {
      const Interval values = ValuesOf(cell);
      const EmptyParts::Part part = parts_.At(values.first);
      uint32_t count = 1;
      CellMark mark = part.mark;
      if (part.last >= values.last) {
        const U128 more = (part.last - values.last) >> bits_;
        count = more < end - cell - 1 ? static_cast<uint32_t>(more) + 1 : end - cell;
        // The last cell of a range may be a part of one.
        if (part.last == all_.last) count = end - cell;
      } else {
        mark = MarkOfEmpty(values);
      }
      AddRun(cell, count, mark);
      cell += count;
    }
  }

  CellMark MarkOfEmpty(const Interval& values) const {
    MapCell cell{.values = values};
    cell.counts[State::kExcluded] = parts_.CountExcluded(values);
    cell.counts[State::kFree] = values.Size() - cell.counts[State::kExcluded];
    const auto band = layout_.BandSpan(Band::kStatic);
    cell.has_static = band && alloc::Intersection(values, *band);
    return cell.Mark();
  }

  void AddRun(uint32_t first, uint32_t count, CellMark mark) {
    if (!tile_.runs.empty()) {
      TileRun& last = tile_.runs.back();
      if (last.mark == mark && last.first + last.count == first) {
        last.count += count;
        return;
      }
    }
    tile_.runs.push_back({.first = first, .count = count, .mark = mark});
  }

  const UsedValues& used_;
  const RangeRef& range_;
  const alloc::Layout& layout_;
  const Matches& matches_;
  const Interval all_;
  const EmptyParts parts_;
  MostOften namespaces_;
  MostOften types_;
  unsigned bits_ = 0;
  U128 offset_ = 0;
  Tile tile_;
};

}  // namespace

CellMark MarkOf(const RangeRef& range, const UsedValue& used) {
  MapCell cell{.values = {.first = used.value, .last = used.value}};
  CountUsed(range.row->layout, used, cell);
  return cell.Mark();
}

base::Result<Tile> MakeTile(const UsedValues& used, const RangeRef& range, const TilePlace& place,
                            const Matches& matches) {
  const auto bad = [](const char* why) { return base::Fail(base::Reason::kInvalid, why); };
  if (place.bits > kMostTileBits || place.bits % 2 != 0) {
    return bad("bits must be an even number from 0 to 126");
  }
  const unsigned shift = place.bits + kBitsOfTile;
  const bool fits =
      shift < kBitsOfValue ? (place.index >> (kBitsOfValue - shift)) == 0 : place.index == 0;
  const U128 offset = fits && shift < kBitsOfValue ? place.index << shift : 0;
  const unsigned map = MapBits(AllValuesOf(*range.row));
  if (!fits || (map < kBitsOfValue && (offset >> map) != 0)) {
    return bad("index must be that of a tile of the range");
  }
  return TileMaker(used, range, matches).Make(place.bits, offset);
}

}  // namespace berth::inspect
