// Draws a range on a terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/uint128.h"
#include "berth/terminal.h"
#include "inspect/census.h"
#include "inspect/range_map.h"
#include "inspect/range_part.h"

namespace berth::cli {

/// A part of a range, and how a reader came to it.
struct MapView {
  inspect::RangePart whole = {};      ///< What the reader asked for.
  alloc::Interval part = {};          ///< What is drawn of it.
  std::optional<base::U128> at = {};  ///< The value to point at.
  unsigned depth = 0;
};

/// Returns the drawing. With colour and UTF-8 a line has two rows of half blocks, otherwise one row
/// of characters.
std::string MapText(const inspect::Census& census, const MapView& view, const Style& style);

/// Returns a list of all ranges with a small drawing of each.
std::string MapListText(const inspect::Census& census, const Style& style);

}  // namespace berth::cli
