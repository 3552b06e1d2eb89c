#include "berth/inspect/map_layout.h"

#include <algorithm>
#include <array>
#include <span>

#include "berth/text.h"

namespace berth::cli {
namespace {

using alloc::Interval;
using alloc::PoolId;
using base::U128;

constexpr std::array<size_t, 4> kAddressColumns = {128, 64, 32, 16};
constexpr std::array<size_t, 4> kPortColumns = {100, 50, 20, 10};
constexpr size_t kLeastRows = 4;  // A small range is drawn as a block, not as a line.

std::span<const size_t> ColumnsFor(PoolId pool) {
  return pool == PoolId::kPorts ? std::span<const size_t>(kPortColumns)
                                : std::span<const size_t>(kAddressColumns);
}

/// Returns the next larger size of a cell.
U128 NextSize(PoolId pool, U128 size) {
  if (pool != PoolId::kPorts) return size * 2;
  // 1, 2, 5, 10, 20, 50 and so on.
  U128 power = 1;
  while (power * 10 <= size) power *= 10;
  return size / power == 2 ? size / 2 * 5 : size * 2;
}

/// Chooses the cells for a given number of columns.
MapLayout WithColumns(PoolId pool, const Interval& part, size_t columns, size_t most_rows) {
  const U128 distance = part.last - part.first;
  MapLayout layout{.columns = columns};
  while (distance / layout.cell / columns >= most_rows) layout.cell = NextSize(pool, layout.cell);
  layout.rows = static_cast<size_t>(distance / layout.cell / columns) + 1;
  for (size_t row = 0; row < layout.rows; ++row) {
    const U128 first = part.first + layout.cell * columns * row;
    layout.labels.push_back(alloc::TextOf({.pool = pool, .value = first}));
    layout.label_width = std::max(layout.label_width, DisplayWidth(layout.labels.back()));
  }
  return layout;
}

/// Replaces what all labels have in common, up to a separator, by the ellipsis.
void ShortenLabels(MapLayout& layout, const std::string& ellipsis) {
  if (layout.labels.size() < 2) return;
  const std::string& first = layout.labels.front();
  size_t common = first.size();
  for (const std::string& label : layout.labels) {
    const auto different = std::ranges::mismatch(first, label).in1;
    common = std::min(common, static_cast<size_t>(different - first.begin()));
  }
  const size_t separator = first.find_last_of(".:", common == 0 ? 0 : common - 1);
  if (common == 0 || separator == std::string::npos) return;
  layout.label_width = 0;
  for (std::string& label : layout.labels) {
    const std::string rest = label.substr(separator + 1);
    label = ellipsis + (rest.empty() ? "0" : rest);
    layout.label_width = std::max(layout.label_width, DisplayWidth(label));
  }
}

bool Fits(const MapLayout& layout, size_t width) {
  return kIndent + layout.label_width + kIndent + layout.columns <= width;
}

}  // namespace

MapLayout LayOutMap(PoolId pool, const Interval& part, size_t width, size_t most_rows,
                    const std::string& ellipsis) {
  const U128 distance = part.last - part.first;
  MapLayout layout;
  for (const size_t columns : ColumnsFor(pool)) {
    const bool last = columns == ColumnsFor(pool).back();
    if (!last && distance / columns + 1 < kLeastRows) continue;
    layout = WithColumns(pool, part, columns, most_rows);
    if (Fits(layout, width)) return layout;
    ShortenLabels(layout, ellipsis);
    if (last || Fits(layout, width)) return layout;
  }
  return layout;
}

}  // namespace berth::cli
