#include "inspect/range_part.h"

#include <fmt/format.h>

#include <optional>

#include "base/go_text.h"
#include "inspect/names.h"
#include "inspect/question.h"

namespace berth::inspect {
namespace {

using alloc::Interval;

std::vector<RangePart> PartsByValues(const Census& census, const WrittenRange& written) {
  std::vector<RangePart> found;
  std::optional<RangePart> smallest;
  for (const RangeRef& range : census.ranges()) {
    if (range.pool != written.pool) continue;
    const Interval all = AllValuesOf(*range.row);
    if (all == written.values) found.push_back({.range = range, .values = all});
    if (all.first > written.values.first || written.values.last > all.last) continue;
    const bool smaller =
        !smallest || all.last - all.first < AllValuesOf(*smallest->range.row).last -
                                                AllValuesOf(*smallest->range.row).first;
    if (smaller) smallest = RangePart{.range = range, .values = written.values};
  }
  if (found.empty() && smallest) found.push_back(*smallest);
  return found;
}

}  // namespace

std::string RangeList(const Census& census) {
  constexpr size_t kMostNames = 10;
  const auto& ranges = census.ranges();
  std::string list;
  for (size_t i = 0; i < ranges.size() && i < kMostNames; ++i) {
    if (i > 0) list += i + 1 == ranges.size() ? " and " : ", ";
    const alloc::RangeRow& row = *ranges[i].row;
    list += row.name == row.text ? row.text : fmt::format("{} ({})", row.name, row.text);
  }
  if (ranges.size() > kMostNames) list += fmt::format(" and {} more", ranges.size() - kMostNames);
  return list;
}

base::Result<std::vector<RangePart>> FindParts(const Census& census, std::string_view text) {
  const auto written = ReadWrittenRange(text);
  if (!written) return tl::unexpected(written.error());
  std::vector<RangePart> found;
  if (*written) {
    found = PartsByValues(census, **written);
  } else {
    for (const RangeRef& range : census.ranges()) {
      if (range.row->name != text) continue;
      found.push_back({.range = range, .values = AllValuesOf(*range.row)});
    }
  }
  if (!found.empty()) return found;
  const std::string list = RangeList(census);
  return base::Fail(
      base::Reason::kNotFound,
      fmt::format("{}: {}; {}", base::GoQuoted(text),
                  *written ? "no range of the cluster contains it" : "no range has this name",
                  list.empty() ? "the source shows no ranges; give --service-cidr"
                               : "the ranges are " + list));
}

}  // namespace berth::inspect
