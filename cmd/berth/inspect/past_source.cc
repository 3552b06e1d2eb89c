#include "berth/inspect/past_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/timestamp.h"

namespace berth::cli {
namespace {

constexpr size_t kPastSpans = 20;
constexpr std::chrono::days kPastDays{90};

std::string OwnerText(const history::Owner& owner) {
  return fmt::format("{}/{}", owner.name_space, owner.name);
}

std::vector<inspect::UsePoint> PointsOf(const history::HistoryReader& reader, alloc::PoolId pool,
                                        const std::optional<alloc::Interval>& values,
                                        base::WallTime now) {
  if (!values) return {};
  const auto found = reader.UsePoints(pool, *values, now - kPastDays, now, std::chrono::days(1));
  if (!found) return {};
  std::vector<inspect::UsePoint> points;
  for (const history::UsePoint& point : *found) {
    if (point.held)
      points.push_back({.time = point.time, .values = static_cast<double>(*point.held)});
  }
  return points;
}

std::string_view CertaintyText(history::Certainty certainty) {
  switch (certainty) {
    case history::Certainty::kCertain:
      return "";
    case history::Certainty::kBeforeAndAfter:
      return " (it held the value before and after, and was not seen at that moment)";
    case history::Certainty::kPossible:
      return " (possibly: the moment lies between two looks)";
  }
  return "";
}

}  // namespace

inspect::History PastOwners(const history::HistoryReader& reader) {
  return [&reader](const alloc::PoolValue& value) {
    std::vector<inspect::HeldSpan> spans;
    const auto past = reader.HistoryOf(value, kPastSpans);
    if (!past) return spans;
    for (const history::Span& span : past->spans) {
      inspect::HeldSpan& shown = spans.emplace_back(
          inspect::HeldSpan{.from = span.from.latest, .owner = OwnerText(span.owner)});
      if (span.to) shown.to = span.to->latest;
    }
    std::ranges::reverse(spans);
    return spans;
  };
}

inspect::UseHistory PastUse(const history::HistoryReader& reader, const inspect::Census& census) {
  inspect::UseHistory use;
  for (const inspect::RangeRef& range : census.ranges()) {
    const alloc::Layout& layout = range.row->layout;
    inspect::RangeHistory past{
        .range = PointsOf(reader, range.pool, layout.span(), census.cluster().read_at),
        .dynamic_band = PointsOf(reader, range.pool, layout.BandSpan(alloc::Band::kDynamic),
                                 census.cluster().read_at)};
    // Two points make a rate; with fewer the creation times say more.
    if (past.range.size() > 1) use[range.row->text] = std::move(past);
  }
  return use;
}

std::string HeldAtText(const alloc::PoolValue& value, base::WallTime at,
                       const history::HeldAt& held) {
  std::string out = fmt::format("{} at {}\n", alloc::TextOf(value), codec::FormatTime(at));
  for (const history::Holding& holding : held.holdings) {
    out +=
        fmt::format("  held by {} since {}{}\n", OwnerText(holding.span.owner),
                    codec::FormatTime(holding.span.from.latest), CertaintyText(holding.certainty));
  }
  if (held.holdings.empty()) out += "  held by no Service that the history knows\n";
  if (!held.complete) out += fmt::format("  not complete: {}\n", held.note);
  return out;
}

}  // namespace berth::cli
