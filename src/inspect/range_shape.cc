#include "inspect/range_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "inspect/names.h"

namespace berth::inspect {
namespace {

using alloc::Interval;

constexpr unsigned kMostBits = 128;

std::vector<NeverGiven> NeverGivenBy(const alloc::Layout& layout) {
  std::vector<NeverGiven> all;
  for (const alloc::Unusable& each : layout.unusable()) {
    if (all.size() == kMostNeverGiven) break;
    all.push_back({.values = each.values, .why = std::string(each.why)});
  }
  for (const Interval& each : layout.excluded()) {
    if (all.size() == kMostNeverGiven) break;
    const bool told = std::ranges::any_of(layout.unusable(), [&](const alloc::Unusable& other) {
      return other.values.Contains(each.first) && other.values.Contains(each.last);
    });
    if (!told) all.push_back({.values = each, .why = "excluded by the range"});
  }
  std::ranges::sort(all, {}, [](const NeverGiven& each) { return each.values.first; });
  return all;
}

}  // namespace

std::string KeyOf(const RangeRef& range) {
  const std::string& object = range.range != nullptr ? range.range->facts.key : range.row->name;
  return fmt::format("{}/{}", object, NameOf(range.pool));
}

std::optional<RangeRef> FindRange(const Census& census, std::string_view key) {
  for (const RangeRef& range : census.ranges()) {
    if (KeyOf(range) == key) return range;
  }
  return std::nullopt;
}

unsigned MapBits(const Interval& all) {
  const base::U128 distance = all.last - all.first;
  unsigned bits = 0;
  while (bits < kMostBits && (distance >> bits) != 0) bits += 2;
  return bits;
}

RangeShape ShapeOf(const Census& census, const RangeRef& range) {
  const alloc::Layout& layout = range.row->layout;
  RangeShape shape{.all = AllValuesOf(*range.row),
                   .static_band = layout.BandSpan(alloc::Band::kStatic),
                   .dynamic_band = layout.BandSpan(alloc::Band::kDynamic),
                   .never_given = NeverGivenBy(layout)};
  shape.bits = MapBits(shape.all);
  for (const RangeRef& other : census.ranges()) {
    if (other.row == range.row || other.pool != range.pool) continue;
    if (shape.shared.size() == kMostShared) break;
    if (const auto common = alloc::Intersection(AllValuesOf(*other.row), shape.all)) {
      shape.shared.push_back({.range = other, .values = *common});
    }
  }
  return shape;
}

}  // namespace berth::inspect
