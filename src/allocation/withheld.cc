#include "allocation/withheld.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "allocation/address_errors.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/records.h"

namespace berth::allocation {
namespace {

constexpr size_t kWithheldNamed = 5;

bool GiveOut(const std::vector<alloc::RangeRow>& rows, alloc::U128 value) {
  return std::ranges::any_of(
      rows, [value](const alloc::RangeRow& row) { return row.open && row.layout.GivesOut(value); });
}

}  // namespace

std::optional<std::string> WithheldAdvice(const Ledger& ledger, const PoolValue& value) {
  const auto range = LedgerView(ledger).RangeThatWithholds(value);
  if (!range) return std::nullopt;
  const std::string lies =
      range->open
          ? fmt::format("is excluded from the range \"{}\"", range->name)
          : fmt::format("lies in the range \"{}\", which {}", range->name, WhyNotOpen(*range));
  return fmt::format("{} {}: no Service can take it until that changes", RecordName(value), lies);
}

std::optional<std::string> WithheldAdvice(alloc::PoolId pool,
                                          const std::vector<ValueForService>& kept,
                                          const std::vector<alloc::RangeRow>& before,
                                          const std::vector<alloc::RangeRow>& after) {
  std::vector<std::string> named;
  size_t total = 0;
  for (const ValueForService& each : kept) {
    if (!GiveOut(before, each.value) || GiveOut(after, each.value)) continue;
    if (++total > kWithheldNamed) continue;
    named.push_back(
        fmt::format("{} ({})", RecordName({.pool = pool, .value = each.value}), each.service));
  }
  if (total == 0) return std::nullopt;
  return fmt::format(
      "no Service can take what is reserved for it here until that changes: {}{}",
      fmt::join(named, ", "),
      total > kWithheldNamed ? fmt::format(" and {} more", total - kWithheldNamed) : "");
}

}  // namespace berth::allocation
