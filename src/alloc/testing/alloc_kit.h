// Helpers for the tests of the allocator.
#pragma once

#include <string>
#include <vector>

#include "alloc/layout.h"
#include "alloc/range_table.h"
#include "base/uint128.h"
#include "ip/addr.h"
#include "ip/cidr.h"

namespace berth::alloc {

/// Parses an address into the number that the allocator uses for it.
inline base::U128 Value(const std::string& addr) { return ip::ParseAddr(addr).value().bits(); }

inline RangeRow Row(const std::string& cidr, const RangeOptions& options = {}) {
  return {.name = "of " + cidr,
          .text = cidr,
          .layout = *LayoutOf(ip::ParseCidr(cidr).value(), options)};
}

inline std::vector<RangeRow> Rows(const std::vector<std::string>& cidrs) {
  std::vector<RangeRow> rows;
  rows.reserve(cidrs.size());
  for (const std::string& cidr : cidrs) rows.push_back(Row(cidr));
  return rows;
}

}  // namespace berth::alloc
