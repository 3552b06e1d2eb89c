#include "inspect/value_table.h"

#include <algorithm>

#include "inspect/tile.h"
#include "inspect/whois.h"

namespace berth::inspect {
namespace {

TableRow RowOf(const Census& census, const UsedValues& used, const RangeRef& range,
               const UsedValue& value) {
  const alloc::Layout& layout = range.row->layout;
  TableRow row{.value = value.value,
               .state = value.state,
               .owner = used.OwnerOf(value),
               .service = used.ServiceOf(value),
               .origin = value.origin,
               .since = LookUp(census, {.pool = range.pool, .value = value.value}).since,
               .mark = MarkOf(range, value)};
  if (layout.Contains(value.value)) row.band = layout.BandOf(value.value);
  return row;
}

}  // namespace

ValueTable MakeValueTable(const Census& census, const UsedValues& used, const RangeRef& range,
                          const alloc::Interval& part, const Matches& matches,
                          const std::optional<base::U128>& after) {
  ValueTable table;
  const auto entries = used.In(range.pool, part);
  const auto first =
      after ? std::ranges::upper_bound(entries, *after, {}, &UsedValue::value) : entries.begin();
  if (matches.empty()) table.total = entries.size();
  for (auto entry = matches.empty() ? first : entries.begin(); entry != entries.end(); ++entry) {
    if (!matches.empty()) {
      if (!matches.Has(range.pool, *entry)) continue;
      ++table.total;
      if (entry < first || table.next) continue;
    }
    if (table.rows.size() == kMostTableRows) {
      table.next = table.rows.back().value;
      if (matches.empty()) break;
      continue;
    }
    table.rows.push_back(RowOf(census, used, range, *entry));
  }
  return table;
}

}  // namespace berth::inspect
