// Chooses how a part of a range is drawn: how many values a cell has, how many cells a row has, and
// how the rows are labelled. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "alloc/layout.h"
#include "alloc/pool_id.h"
#include "base/uint128.h"

namespace berth::cli {

struct MapLayout {
  base::U128 cell =
      1;  ///< Values of a cell: a power of two for addresses, a round number for ports.
  size_t columns = 64;  ///< Cells of a row.
  size_t rows = 1;
  std::vector<std::string> labels = {};  ///< The first value of each row, perhaps shortened.
  size_t label_width = 0;
};

/// The most rows of a drawing.
inline constexpr size_t kMapRows = 48;

/// Returns the layout for `width` columns of a terminal and at most `most_rows` rows. Labels that
/// have a beginning in common are shortened where that leaves room for more cells; `ellipsis` then
/// stands for the beginning.
MapLayout LayOutMap(alloc::PoolId pool, const alloc::Interval& part, size_t width, size_t most_rows,
                    const std::string& ellipsis);

}  // namespace berth::cli
