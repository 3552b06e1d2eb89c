#include "berth/inspect/past_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "berth/inspect/value_text.h"
#include "berth/text.h"
#include "codec/timestamp.h"

namespace berth::cli {
namespace {

constexpr size_t kPastSpans = 20;
constexpr std::chrono::days kPastDays{90};

inspect::Bounds BoundsOf(const history::Moment& moment) {
  return {.latest = moment.latest, .earliest = moment.earliest};
}

std::string OwnerText(const history::Owner& owner) {
  return fmt::format("{}/{}", owner.name_space, owner.name);
}

std::vector<inspect::UsePoint> PointsOf(const history::HistoryReader& reader, alloc::PoolId pool,
                                        const std::optional<alloc::Interval>& values,
                                        base::WallTime now) {
  if (!values) return {};
  const auto found = reader.UseAtLooks(pool, *values, now - kPastDays, now, std::chrono::days(1));
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
      return " (it was seen before and after, and not at that moment)";
    case history::Certainty::kPossible:
      return " (possibly: the moment lies between two looks)";
  }
  return "";
}

}  // namespace

inspect::History PastOwners(const history::HistoryReader& reader) {
  return [&reader](const alloc::PoolValue& value) {
    const auto past = reader.HistoryOf(value, kPastSpans);
    if (!past) return inspect::ValuePast();
    inspect::ValuePast shown{.begin = past->begin, .end = past->end, .gaps = past->gaps.size()};
    for (const history::Span& span : past->spans) {
      inspect::HeldSpan& last = shown.spans.emplace_back(
          inspect::HeldSpan{.from = BoundsOf(span.from), .owner = OwnerText(span.owner)});
      if (span.to) last.to = BoundsOf(*span.to);
    }
    std::ranges::reverse(shown.spans);
    return shown;
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
    // With less, the creation times say more.
    if (inspect::IsEnough(past)) use[range.row->text] = std::move(past);
  }
  return use;
}

std::string HeldAtText(std::string_view asked, base::WallTime at, const history::HeldAt& held,
                       bool of_service, size_t width) {
  std::string out = fmt::format("{} at {}\n", base::ToVisible(asked), codec::FormatTime(at));
  const auto add = [&](const std::string& line) { out += Wrapped(line, kIndent, width); };
  for (const history::Holding& holding : held.holdings) {
    const history::Span& span = holding.span;
    add(fmt::format("{} since {}{}",
                    of_service ? "held " + alloc::TextOf(span.held.value)
                               : "held by " + base::ToVisible(OwnerText(span.owner)),
                    BoundsText(BoundsOf(span.from)), CertaintyText(holding.certainty)));
  }
  if (held.holdings.empty()) {
    add(of_service ? "held nothing that the history knows"
                   : "held by no Service that the history knows");
  }
  if (!held.complete) add("not complete: " + held.note);
  return out;
}

}  // namespace berth::cli
