// The names of ranges in links, and what is drawn on the map of a range beside its cells: bands,
// values that are never given out, and other ranges that share values with it. Pure.
//
// A place on the map is an offset: the first value of the range, usable or not, has offset 0.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/layout.h"
#include "inspect/census.h"

namespace berth::inspect {

/// Returns the text that names a range in links, such as "ServiceCIDR/kubernetes/IPv4". It stays
/// the same when the range gets other values.
std::string KeyOf(const RangeRef& range);

/// Returns the range of this key, or nullopt.
std::optional<RangeRef> FindRange(const Census& census, std::string_view key);

/// Returns the smallest even number of bits that tells all values of an interval apart, so that the
/// map is a square.
unsigned MapBits(const alloc::Interval& all);

/// Values that are never given out.
struct NeverGiven {
  alloc::Interval values = {};
  std::string why = {};
};

/// The values that another range has, too.
struct Shared {
  RangeRef range = {};
  alloc::Interval values = {};
};

inline constexpr size_t kMostNeverGiven = 200;
inline constexpr size_t kMostShared = 50;

struct RangeShape {
  alloc::Interval all = {};
  unsigned bits = 0;
  std::optional<alloc::Interval> static_band = {};
  std::optional<alloc::Interval> dynamic_band = {};
  std::vector<NeverGiven> never_given = {};  ///< Ascending, at most kMostNeverGiven.
  std::vector<Shared> shared = {};           ///< In the order of the census, at most kMostShared.
};
RangeShape ShapeOf(const Census& census, const RangeRef& range);

}  // namespace berth::inspect
