#include "registry/withheld.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "registry/address_errors.h"
#include "registry/records.h"

namespace berth::registry {
namespace {

using commit::Allocations;

constexpr size_t kNamed = 5;

bool GiveOut(const std::vector<alloc::RangeRow>& rows, alloc::U128 value) {
  return std::ranges::any_of(rows, [value](const alloc::RangeRow& row) {
    const auto has = [value](const alloc::Interval& part) { return part.Contains(value); };
    return row.open && row.layout.Contains(value) &&
           std::ranges::none_of(row.layout.excluded(), has);
  });
}

}  // namespace

std::optional<std::string> WithheldAdvice(const Allocations& allocations,
                                          const commit::PoolValue& value) {
  const auto range = allocations.RangeThatWithholds(value);
  if (!range) return std::nullopt;
  const std::string lies =
      range->open
          ? fmt::format("is excluded from the range \"{}\"", range->name)
          : fmt::format("lies in the range \"{}\", which {}", range->name, WhyNotOpen(*range));
  return fmt::format("{} {}: no Service can take it until that changes", RecordName(value), lies);
}

std::optional<std::string> WithheldAdvice(alloc::PoolId pool,
                                          const std::vector<Allocations::KeptValue>& kept,
                                          const std::vector<alloc::RangeRow>& before,
                                          const std::vector<alloc::RangeRow>& after) {
  std::vector<std::string> named;
  size_t total = 0;
  for (const Allocations::KeptValue& each : kept) {
    if (!GiveOut(before, each.value) || GiveOut(after, each.value)) continue;
    if (++total > kNamed) continue;
    named.push_back(
        fmt::format("{} ({})", RecordName({.pool = pool, .value = each.value}), each.service));
  }
  if (total == 0) return std::nullopt;
  return fmt::format("no Service can take what is reserved for it here until that changes: {}{}",
                     fmt::join(named, ", "),
                     total > kNamed ? fmt::format(" and {} more", total - kNamed) : "");
}

}  // namespace berth::registry
