#include "inspect/range_map.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace berth::inspect {
namespace {

using alloc::Band;
using alloc::Interval;
using alloc::State;
using base::U128;

/// Fills the cells of a part.
class CellFiller {
 public:
  CellFiller(const Census& census, const RangeRef& range, const Interval& part, U128 cell_size)
      : census_(census), range_(range), layout_(range.row->layout), part_(part), size_(cell_size) {
    const U128 cells = (part.last - part.first) / size_ + 1;
    cells_.resize(static_cast<size_t>(cells));
    for (size_t i = 0; i < cells_.size(); ++i) {
      const U128 first = part.first + size_ * i;
      const U128 last = part.last - first < size_ - 1 ? part.last : first + (size_ - 1);
      cells_[i].values = {.first = first, .last = last};
    }
  }

  std::vector<MapCell> Fill() && {
    AddUses();
    AddRecords();
    AddExcluded();
    for (MapCell& cell : cells_) {
      const U128 size = cell.values.Size();
      cell.counts[State::kFree] = size - cell.counts.Total();
      cell.has_static = Overlaps(cell.values, layout_.BandSpan(Band::kStatic));
      cell.has_dynamic = Overlaps(cell.values, layout_.BandSpan(Band::kDynamic));
    }
    return std::move(cells_);
  }

 private:
  static bool Overlaps(const Interval& values, const std::optional<Interval>& band) {
    return band && alloc::Intersection(values, *band);
  }

  MapCell& CellOf(U128 value) { return cells_[static_cast<size_t>((value - part_.first) / size_)]; }

  void AddUses() {
    const auto uses = census_.UsesIn(range_.pool, part_);
    for (size_t i = 0; i < uses.size(); ++i) {
      MapCell& cell = CellOf(uses[i].value);
      if (i > 0 && uses[i].value == uses[i - 1].value) {
        const bool second = i < 2 || uses[i].value != uses[i - 2].value;
        cell.twice += second ? 1 : 0;
        continue;
      }
      cell.CountTaken(layout_, uses[i].value, uses[i].held->origin);
      Uncount(uses[i].value);
    }
  }

  void AddRecords() {
    const Record* before = nullptr;
    for (const Record* record : census_.RecordsIn(range_.pool, part_)) {
      const alloc::PoolValue& value = record->facts.value;
      const bool repeated = before != nullptr && before->facts.value == value;
      before = record;
      if (repeated || !census_.UsesOf(value).empty()) continue;
      CellOf(value.value).counts[census_.StateIn(*range_.row, value)] += 1;
      Uncount(value.value);
    }
  }

  /// Remembers that a value counts in another state, although it is excluded.
  void Uncount(U128 value) {
    if (!layout_.GivesOut(value)) excluded_but_used_.push_back(value);
  }

  void AddExcluded() {
    std::vector<Interval> excluded = layout_.excluded();
    if (const auto& span = layout_.span()) {
      if (part_.first < span->first) excluded.push_back({part_.first, span->first - 1});
      if (part_.last > span->last) excluded.push_back({span->last + 1, part_.last});
    } else {
      excluded.push_back(part_);
    }
    for (const Interval& each : excluded) {
      const auto inside = alloc::Intersection(each, part_);
      if (!inside) continue;
      const auto last = static_cast<size_t>((inside->last - part_.first) / size_);
      for (auto i = static_cast<size_t>((inside->first - part_.first) / size_); i <= last; ++i) {
        cells_[i].counts[State::kExcluded] +=
            alloc::Intersection(*inside, cells_[i].values)->Size();
      }
    }
    for (const U128 value : excluded_but_used_) CellOf(value).counts[State::kExcluded] -= 1;
  }

  const Census& census_;
  const RangeRef& range_;
  const alloc::Layout& layout_;
  const Interval part_;
  const U128 size_;
  std::vector<MapCell> cells_;
  std::vector<U128> excluded_but_used_;
};

}  // namespace

std::string_view NameOf(CellMark mark) {
  constexpr std::array<std::string_view, kCellMarks> kNames = {
      "freeStatic", "free",    "taken", "namedInDynamic", "spill",
      "reserved",   "cooling", "twice", "excluded"};
  return kNames[static_cast<size_t>(mark)];
}

double MapCell::Fill() const {
  const U128 usable = Usable();
  return usable == 0 ? 0 : static_cast<double>(Used()) / static_cast<double>(usable);
}

CellMark MapCell::Mark() const {
  if (twice > 0) return CellMark::kTwice;
  if (Usable() == 0) return CellMark::kExcluded;
  if (Used() == 0) return has_static ? CellMark::kFreeStatic : CellMark::kFree;
  // Of equal counts the first one wins, so the unusual comes first.
  const U128 plain = counts[State::kTaken] - named_in_dynamic - spill;
  const std::array<std::pair<U128, CellMark>, 5> all = {
      {{spill, CellMark::kSpill},
       {named_in_dynamic, CellMark::kNamedInDynamic},
       {counts[State::kReserved], CellMark::kReserved},
       {plain, CellMark::kTaken},
       {counts[State::kCooling], CellMark::kCooling}}};
  return std::ranges::max_element(all, {}, &std::pair<U128, CellMark>::first)->second;
}

void MapCell::CountTaken(const alloc::Layout& layout, U128 value, Origin origin) {
  counts[State::kTaken] += 1;
  if (!layout.Contains(value)) return;
  const Band band = layout.BandOf(value);
  named_in_dynamic += band == Band::kDynamic && origin == Origin::kNamed ? 1 : 0;
  spill += band == Band::kStatic && origin == Origin::kDrawn ? 1 : 0;
}

void MapCell::Add(const MapCell& other) {
  values.first = std::min(values.first, other.values.first);
  values.last = std::max(values.last, other.values.last);
  counts += other.counts;
  named_in_dynamic += other.named_in_dynamic;
  spill += other.spill;
  twice += other.twice;
  has_static = has_static || other.has_static;
  has_dynamic = has_dynamic || other.has_dynamic;
}

std::vector<MapCell> MapCells(const Census& census, const RangeRef& range, const Interval& part,
                              size_t cells) {
  const U128 distance = part.last - part.first;
  // All 2^128 values do not fit into the count of one cell.
  const size_t least = distance == base::kU128Max ? 2 : 1;
  const size_t most = std::clamp(cells, least, kMostCells);
  return CellFiller(census, range, part, distance / most + 1).Fill();
}

std::vector<MapCell> MapCellsOfSize(const Census& census, const RangeRef& range,
                                    const Interval& part, U128 cell_size) {
  const U128 distance = part.last - part.first;
  const U128 least = distance / kMostCells + 1;
  return CellFiller(census, range, part, std::max({cell_size, least, U128{1}})).Fill();
}

Interval ZoomedPart(const Interval& whole, U128 at, unsigned depth) {
  Interval part = whole;
  const U128 inside = std::clamp(at, whole.first, whole.last);
  for (unsigned i = 0; i < depth && part.last - part.first >= kZoomParts; ++i) {
    const U128 step = (part.last - part.first) / kZoomParts + 1;
    part.first += (inside - part.first) / step * step;
    if (part.last - part.first >= step) part.last = part.first + (step - 1);
  }
  return part;
}

}  // namespace berth::inspect
