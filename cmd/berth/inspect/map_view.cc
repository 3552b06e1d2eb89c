#include "berth/inspect/map_view.h"

#include <fmt/format.h>

#include <utility>

#include "base/go_text.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/map_layout.h"
#include "inspect/names.h"
#include "inspect/question.h"

namespace berth::cli {
namespace {

using alloc::State;
using base::Result;
using codec::Array;
using codec::Object;

constexpr size_t kDocumentWidth = 100;

tl::unexpected<base::Error> BadFlag(std::string_view flag, std::string_view value,
                                    std::string_view why) {
  return base::Fail(base::Reason::kInvalid,
                    fmt::format("{} {}: {}", flag, base::GoQuoted(value), why));
}

Result<std::vector<inspect::RangePart>> PartsOf(const inspect::Census& census,
                                                const MapArguments& arguments) {
  if (!arguments.range.empty()) return inspect::FindParts(census, arguments.range);
  std::vector<inspect::RangePart> all;
  for (const inspect::RangeRef& range : census.ranges()) {
    all.push_back({.range = range, .values = inspect::AllValuesOf(*range.row)});
  }
  return all;
}

/// Returns the depth from which on each value of the part has a cell of its own.
unsigned FullDepth(const alloc::Interval& whole, base::U128 at) {
  constexpr base::U128 kCellsOfAView = 1024;
  unsigned depth = 0;
  for (; depth < kDeepest; ++depth) {
    const alloc::Interval part = inspect::ZoomedPart(whole, at, depth);
    if (part.last - part.first < kCellsOfAView) break;
  }
  return depth;
}

codec::Value CellDocument(alloc::PoolId pool, const inspect::MapCell& cell) {
  Object object;
  SetValues(object, pool, cell.values);
  object.Set("mark", inspect::NameOf(cell.Mark()));
  object.Set("fill", cell.Fill());
  for (const State state :
       {State::kFree, State::kTaken, State::kReserved, State::kCooling, State::kExcluded}) {
    SetNumber(object, std::string(inspect::NameOf(state)), cell.counts[state]);
  }
  object.Set("namedInDynamic", cell.named_in_dynamic);
  object.Set("spill", cell.spill);
  object.Set("twice", cell.twice);
  return object;
}

}  // namespace

Result<std::vector<MapView>> MapViews(const inspect::Census& census,
                                      const MapArguments& arguments) {
  if (arguments.depth.value_or(0) > kDeepest) {
    return BadFlag("--depth", std::to_string(*arguments.depth), "must be 0 to 32");
  }
  std::optional<alloc::PoolValue> at;
  if (!arguments.at.empty()) {
    at = inspect::ReadValue(arguments.at);
    if (!at) return BadFlag("--at", arguments.at, "must be an address or a port");
  }
  auto parts = PartsOf(census, arguments);
  if (!parts) return tl::unexpected(parts.error());
  std::vector<MapView> views;
  for (const inspect::RangePart& part : *parts) {
    if (at && (at->pool != part.range.pool || !part.values.Contains(at->value))) continue;
    MapView view{.whole = part};
    if (at) view.at = at->value;
    const base::U128 near = view.at.value_or(part.values.first);
    view.depth = arguments.depth.value_or(at ? FullDepth(part.values, near) : 0);
    view.part = inspect::ZoomedPart(part.values, near, view.depth);
    views.push_back(view);
  }
  if (at && views.empty()) {
    return BadFlag(
        "--at", arguments.at,
        arguments.range.empty() ? "no range contains it" : "the range does not contain it");
  }
  return views;
}

codec::Value MapDocument(const inspect::Census& census, const std::vector<MapView>& views) {
  Array maps;
  for (const MapView& view : views) {
    const alloc::PoolId pool = view.whole.range.pool;
    const MapLayout layout = LayOutMap(pool, view.part, kDocumentWidth, kMapRows, "");
    Object object{{"range", RangeRefDocument(view.whole.range)}};
    SetValues(object, pool, view.part);
    object.Set("depth", uint64_t{view.depth});
    object.Set("at", view.at ? codec::Value(alloc::TextOf({.pool = pool, .value = *view.at}))
                             : codec::Value());
    SetNumber(object, "valuesPerCell", layout.cell);
    object.Set("columns", uint64_t{layout.columns});
    Array cells;
    for (const inspect::MapCell& cell :
         inspect::MapCellsOfSize(census, view.whole.range, view.part, layout.cell)) {
      cells.push_back(CellDocument(pool, cell));
    }
    object.Set("cells", std::move(cells));
    maps.push_back(std::move(object));
  }
  Object document = DocumentOf("Map", census.cluster());
  document.Set("maps", std::move(maps));
  document.Set("gaps", GapsDocument(census.cluster()));
  return document;
}

}  // namespace berth::cli
