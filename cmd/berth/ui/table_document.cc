// The values in use of a part of a range, as rows.
#include "berth/inspect/document_parts.h"
#include "berth/ui/scene.h"
#include "berth/ui/scene_parts.h"
#include "inspect/names.h"
#include "inspect/value_table.h"

namespace berth::cli {
namespace {

using codec::Object;
using codec::Value;

Value RowDocument(alloc::PoolId pool, const inspect::TableRow& row) {
  const bool typed = row.service != nullptr;
  const std::string_view type = typed && row.service->type.empty()
                                    ? std::string_view("ClusterIP")
                                    : (typed ? std::string_view(row.service->type) : "");
  return Object{{"value", ValueTextOf(pool, row.value)},
                {"state", inspect::NameOf(row.state)},
                {"service", StringOrNull(row.owner)},
                {"type", StringOrNull(type)},
                {"origin", inspect::NameOf(row.origin)},
                {"band", row.band ? Value(inspect::NameOf(*row.band)) : Value()},
                {"since", TimeOrNull(row.since)},
                {"mark", inspect::NameOf(row.mark)}};
}

}  // namespace

base::Result<Value> TableDocument(const Scene& scene, const TableQuestion& question) {
  const auto range = RangeOfKey(scene, question.key);
  if (!range) return tl::unexpected(range.error());
  const inspect::RangeRef& ref = (*range)->ref;
  alloc::Interval part = inspect::AllValuesOf(*ref.row);
  std::optional<base::U128> after;
  const auto read = [&](const std::string& text, std::string_view what,
                        const auto& set) -> base::Result<void> {
    if (text.empty()) return {};
    const auto value = ReadValueOf(ref.pool, text, what);
    if (!value) return tl::unexpected(value.error());
    set(*value);
    return {};
  };
  // Values outside of the range are cut off.
  const auto first = read(question.first, "first",
                          [&](base::U128 value) { part.first = std::max(part.first, value); });
  if (!first) return tl::unexpected(first.error());
  const auto last = read(question.last, "last",
                         [&](base::U128 value) { part.last = std::min(part.last, value); });
  if (!last) return tl::unexpected(last.error());
  const auto next = read(question.after, "after", [&](base::U128 value) { after = value; });
  if (!next) return tl::unexpected(next.error());
  const auto filter = inspect::Filter::Read(question.find);
  if (!filter) return tl::unexpected(filter.error());
  inspect::ValueTable table;
  if (part.first <= part.last) {
    table = inspect::MakeValueTable(scene.census(), scene.used(), ref, part,
                                    *scene.MatchesOf(*filter), after);
  }
  codec::Array rows;
  for (const inspect::TableRow& row : table.rows) rows.push_back(RowDocument(ref.pool, row));
  return Value(Object{{"seq", scene.seq()},
                      {"total", table.total},
                      {"rows", std::move(rows)},
                      {"next", table.next ? ValueTextOf(ref.pool, *table.next) : Value()}});
}

}  // namespace berth::cli
