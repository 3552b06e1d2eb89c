#include "inspect/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "inspect/attention.h"
#include "inspect/checks.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;
using alloc::State;

/// Returns when the oldest Service was created.
std::optional<base::WallTime> Beginning(const Cluster& cluster) {
  std::optional<base::WallTime> first;
  for (const Service& service : cluster.services) {
    if (service.created && (!first || *service.created < *first)) first = service.created;
  }
  return first;
}

/// Returns the growth of the values in an interval by the times at which Services were created.
Growth GrowthIn(const Census& census, PoolId pool, const std::optional<alloc::Interval>& values,
                const std::optional<base::WallTime>& since) {
  if (!values || !since) return {};
  std::vector<base::WallTime> created;
  const auto uses = census.UsesIn(pool, *values);
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i > 0 && uses[i].value == uses[i - 1].value) continue;
    if (uses[i].service->created) created.push_back(*uses[i].service->created);
  }
  return GrowthOfCreations(created, *since, census.cluster().read_at);
}

/// Counts the values that have a record and no Service.
void CountWithoutService(const Census& census, TopRange& range) {
  if (census.cluster().services.empty()) return;
  const PoolId pool = range.ref.pool;
  const alloc::Interval span = *range.ref.row->layout.span();
  const auto uses = census.UsesIn(pool, span);
  auto use = uses.begin();
  for (const Record* record : census.RecordsIn(pool, span)) {
    if (record->facts.state != rules::RecordState::kAllocated) continue;
    while (use != uses.end() && use->value < record->facts.value.value) ++use;
    if (use != uses.end() && use->value == record->facts.value.value) continue;
    ++(IsYoung(census.cluster(), *record) ? range.young : range.orphans);
  }
}

/// Counts the values that several Services hold, and notes whether the source tells their origin.
void LookAtUses(const Census& census, TopRange& range) {
  const auto uses = census.UsesIn(range.ref.pool, *range.ref.row->layout.span());
  range.origins_known = uses.empty();
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].held->origin != Origin::kUnknown) range.origins_known = true;
    const bool second = i > 0 && uses[i].value == uses[i - 1].value;
    const bool third = i > 1 && uses[i].value == uses[i - 2].value;
    if (second && !third) ++range.used_twice;
  }
}

TopRange Measured(const Census& census, const RangeRef& ref, const UseHistory& history,
                  const std::optional<base::WallTime>& since) {
  TopRange range{.ref = ref, .figures = census.FiguresOf(ref)};
  const alloc::Layout& layout = ref.row->layout;
  if (layout.span()) {
    CountWithoutService(census, range);
    LookAtUses(census, range);
  }
  if (const auto known = history.find(ref.row->text); known != history.end()) {
    const base::WallTime now = census.cluster().read_at;
    range.growth = GrowthOfHistory(known->second.range, now);
    range.dynamic_growth = GrowthOfHistory(known->second.dynamic_band, now);
  } else {
    range.growth = GrowthIn(census, ref.pool, layout.span(), since);
    range.dynamic_growth =
        GrowthIn(census, ref.pool, layout.BandSpan(alloc::Band::kDynamic), since);
  }
  range.full = FullAfter(range.figures.Free(), range.growth);
  range.dynamic_full =
      FullAfter(range.figures.dynamic_band.counts[State::kFree], range.dynamic_growth);
  return range;
}

std::vector<Holder> Holders(const Cluster& cluster) {
  std::vector<Holder> holders;  // Services are ordered by namespace.
  for (const Service& service : cluster.services) {
    if (service.holds.empty()) continue;
    if (holders.empty() || holders.back().name_space != service.object.name_space) {
      holders.push_back({.name_space = service.object.name_space});
    }
    Holder& holder = holders.back();
    ++holder.services;
    for (const Held& held : service.holds) {
      ++(held.value.pool == PoolId::kPorts ? holder.ports : holder.addresses);
    }
  }
  std::ranges::stable_sort(holders, std::ranges::greater{},
                           [](const Holder& holder) { return holder.addresses + holder.ports; });
  return holders;
}

std::vector<std::pair<std::string, uint64_t>> Types(const Cluster& cluster) {
  std::map<std::string_view, uint64_t> counts;
  for (const Service& service : cluster.services) {
    // The API's default, for objects that no server has completed.
    ++counts[service.type.empty() ? std::string_view("ClusterIP") : service.type];
  }
  std::vector<std::pair<std::string, uint64_t>> types(counts.begin(), counts.end());
  std::ranges::stable_sort(types, std::ranges::greater{},
                           &std::pair<std::string, uint64_t>::second);
  return types;
}

std::vector<Gap> Gaps(const Cluster& cluster, const std::vector<TopRange>& ranges,
                      bool given_history) {
  std::vector<Gap> gaps = cluster.gaps;
  for (const TopRange& range : ranges) {
    if (!given_history || range.growth.basis == GrowthBasis::kHistory) continue;
    gaps.push_back({.what = fmt::format("{}: {}", range.label, kHistoryTooShort),
                    .advice = "let berth observe run for longer"});
  }
  // The advice is about files. What a server does not show, another flag does not show either.
  const auto advice = [&cluster](std::string_view text) {
    return cluster.server == ServerKind::kUnknown ? std::string(text) : std::string();
  };
  const bool origins = std::ranges::all_of(ranges, &TopRange::origins_known);
  if (!origins) {
    gaps.push_back({.what = "Managed fields are not shown, so values that a client named cannot be "
                            "told from values that were drawn, and spill is unknown",
                    .advice = advice("add --show-managed-fields to kubectl get")});
  }
  const bool times = std::ranges::any_of(
      cluster.services, [](const Service& service) { return service.created.has_value(); });
  if (!times && !cluster.services.empty()) {
    gaps.push_back({.what = "Creation times are not shown, so growth is unknown",
                    .advice = advice("give Services with metadata.creationTimestamp")});
  }
  return gaps;
}

}  // namespace

std::string_view NameOf(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kCritical:
      break;
  }
  return "critical";
}

std::string_view NameOf(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::kFull:
      return "Full";
    case AttentionKind::kDynamicBandFull:
      return "DynamicBandFull";
    case AttentionKind::kNearlyFull:
      return "NearlyFull";
    case AttentionKind::kFullSoon:
      return "FullSoon";
    case AttentionKind::kSpill:
      return "Spill";
    case AttentionKind::kUsedTwice:
      return "UsedTwice";
    case AttentionKind::kOutsideRanges:
      return "OutsideRanges";
    case AttentionKind::kWithoutService:
      return "WithoutService";
    case AttentionKind::kClosed:
      return "Closed";
    case AttentionKind::kAssumedRange:
      break;
  }
  return "AssumedRange";
}

bool IsEnough(const RangeHistory& history) {
  const auto& points = history.range;
  return points.size() > 1 && points.back().time - points.front().time >= std::chrono::days(1);
}

std::vector<TopRange> MeasureRanges(const Census& census, const UseHistory& history) {
  const auto since = Beginning(census.cluster());
  std::vector<TopRange> ranges;
  for (const RangeRef& ref : census.ranges()) {
    ranges.push_back(Measured(census, ref, history, since));
  }
  for (TopRange& range : ranges) {
    const auto same = std::ranges::count(ranges, range.text(), &TopRange::text);
    range.label =
        same > 1 ? fmt::format("{} ({})", range.text(), range.ref.row->name) : range.text();
  }
  return ranges;
}

TopView MakeTop(const Census& census, const TopOptions& options) {
  TopView view{.ranges = MeasureRanges(census, options.history)};
  view.attention = FindAttention(census, view.ranges);
  std::ranges::stable_sort(view.ranges, std::ranges::greater{}, [](const TopRange& range) {
    // Notes do not change the order.
    if (range.worst < Severity::kWarning) return std::pair(Severity::kNote, 0.0);
    return std::pair(*range.worst, range.figures.dynamic_band.PercentUsed());
  });
  view.holders = Holders(census.cluster());
  view.namespaces = view.holders.size();
  if (view.holders.size() > options.holders) view.holders.resize(options.holders);
  view.types = Types(census.cluster());
  view.gaps = Gaps(census.cluster(), view.ranges, options.given_history);
  return view;
}

}  // namespace berth::inspect
