// Finds what a text may mean in a cluster: values, Services, namespaces, labels, ranges and parts
// of ranges. What `find` of a hit says selects the same on a map and in a table. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/pool_id.h"
#include "inspect/census.h"
#include "inspect/filter.h"

namespace berth::inspect {

enum class HitKind : uint8_t { kValue, kService, kNamespace, kRange, kPart, kLabel };
/// Returns "value", "service", "namespace", "range", "part" or "label".
std::string_view NameOf(HitKind kind);

struct Hit {
  HitKind kind = HitKind::kValue;
  std::string title = {};
  std::string text = {};  ///< A second line, "taken by shop/web, in kubernetes 10.96.0.0/16".
  std::optional<alloc::PoolValue> value = {};
  std::string service = {};            ///< "shop/web", to ask more about; may be empty.
  std::optional<RangeRef> range = {};  ///< To show, with `values`.
  std::optional<alloc::Interval> values = {};
  std::string find = {};  ///< A filter that matches the same; may be empty.
};

inline constexpr size_t kMostHits = 50;

struct SearchAnswer {
  std::vector<Hit> hits = {};  ///< The best first, at most kMostHits.
  uint64_t more = 0;
};

/// Takes time in proportion to the number of Services.
SearchAnswer Search(const Census& census, const Filter& filter);

}  // namespace berth::inspect
