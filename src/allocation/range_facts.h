// What a range object says to the ledger, given the row of its kind and the gates of the server.
// rules/range_facts.h reads the object. Pure.
#pragma once

#include "alloc/range_table.h"
#include "api/kinds.h"
#include "codec/value.h"
#include "registry/kind_rows.h"
#include "rules/range_facts.h"

namespace berth::allocation {

/// Returns the kind of range that a row has, which must be the row of a kind of ranges.
inline alloc::RangeKind RangeKindOf(const registry::Row& row) {
  if (row.kind == &api::kServiceCidrKind) return alloc::RangeKind::kServiceCidr;
  return row.kind == &api::kNodePortRangeKind ? alloc::RangeKind::kNodePortRange
                                              : alloc::RangeKind::kIpRange;
}

/// Returns the facts of an IPRange, a NodePortRange or a ServiceCIDR in the stored form. With a
/// gate off, the whole range is one band. A part that cannot be read is left out.
inline alloc::RangeFacts RangeFactsOf(const registry::Row& row, const codec::Value& object,
                                      const registry::Gates& gates) {
  return rules::RangeFactsOf(RangeKindOf(row), object,
                             {.addresses = gates.static_ips, .ports = gates.static_ports});
}

}  // namespace berth::allocation
