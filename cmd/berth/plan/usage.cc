// Sorts values in use into the ranges of a plan.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "alloc/index.h"
#include "berth/plan/plan.h"

namespace berth::cli {
namespace {

using alloc::Band;
using alloc::Interval;

/// Returns every value once, ascending by kind and value, with its uses in the order of the file.
std::vector<UsedValue> Grouped(std::vector<Use> uses) {
  std::vector<size_t> order(uses.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {},
                    [&](size_t i) { return std::tuple(uses[i].kind, uses[i].value, i); });
  std::vector<UsedValue> values;
  for (const size_t i : order) {
    Use& use = uses[i];
    const bool known =
        !values.empty() && values.back().kind == use.kind && values.back().value == use.value;
    if (!known) values.push_back({.kind = use.kind, .value = use.value});
    values.back().uses.push_back(std::move(use));
  }
  return values;
}

/// Returns the values of the range's kind within its bounds, usable or not.
std::span<const UsedValue> WithinBounds(std::span<const UsedValue> values, const RangePlan& range) {
  const auto key = [](const UsedValue& value) { return std::pair(value.kind, value.value); };
  const auto from =
      std::ranges::lower_bound(values, std::pair(range.kind, range.all.first), {}, key);
  const auto to = std::ranges::upper_bound(values, std::pair(range.kind, range.all.last), {}, key);
  return {from, to};
}

/// Adds a free run to the band or bands that contain it. The index joins runs across the border.
void AddRun(const Interval& run, const RangePlan& range, RangeUsage& usage) {
  for (const auto& [plan, band] : {std::pair(&range.static_band, &usage.static_band),
                                   std::pair(&range.dynamic_band, &usage.dynamic_band)}) {
    if (!plan->span) continue;
    if (const auto part = Intersection(run, *plan->span)) band->free_runs.push_back(*part);
  }
}

RangeUsage UsageOf(const RangePlan& range, std::span<const UsedValue> values) {
  RangeUsage usage;
  std::vector<U128> numbers;
  for (const UsedValue& value : WithinBounds(values, range)) {
    if (WhyUnusable(range, value.value)) continue;
    numbers.push_back(value.value);
    const bool is_static = range.layout.BandOf(value.value) == Band::kStatic;
    (is_static ? usage.static_band : usage.dynamic_band).values.push_back(value);
  }
  if (!range.layout.span()) return usage;
  const alloc::Index index = alloc::Index::Load(range.layout, numbers).index;
  for (const auto& [band, counts] :
       {std::pair(&usage.static_band, index.Counts(Band::kStatic)),
        std::pair(&usage.dynamic_band, index.Counts(Band::kDynamic))}) {
    band->used = counts[alloc::State::kTaken];
    band->free = counts[alloc::State::kFree];
  }
  // There is at most one gap more than values in use and excluded intervals together.
  const size_t limit = numbers.size() + range.layout.excluded().size() + 1;
  for (const Interval& run : index.FreeRuns(range.layout.span()->first, limit)) {
    AddRun(run, range, usage);
  }
  return usage;
}

/// Returns why no range can have allocated the value, or nullopt if a range can.
std::optional<std::string> WhyOutside(const UsedValue& value,
                                      const std::vector<RangePlan>& ranges) {
  std::string why = "in none of the ranges";
  for (const RangePlan& range : ranges) {
    if (range.kind != value.kind || !range.all.Contains(value.value)) continue;
    const std::optional<std::string> unusable = WhyUnusable(range, value.value);
    if (!unusable) return std::nullopt;
    why = fmt::format("{}: {}", range.range, *unusable);
  }
  return why;
}

bool IsPlanned(ValueKind kind, const std::vector<RangePlan>& ranges) {
  return std::ranges::find(ranges, kind, &RangePlan::kind) != ranges.end();
}

}  // namespace

double BandUsage::Percent() const {
  if (Total() == 0) return 0;
  return 100 * static_cast<double>(used) / static_cast<double>(Total());
}

void AddUsage(Plan& plan, Used used) {
  const std::vector<UsedValue> values = Grouped(std::move(used.uses));
  for (RangePlan& range : plan.ranges) range.usage = UsageOf(range, values);

  UsedPlan report{.format = used.format,
                  .services = used.services,
                  .other_objects = used.other_objects,
                  .values = values.size()};
  std::array<size_t, kValueKinds.size()> unchecked{};
  for (const UsedValue& value : values) {
    if (!IsPlanned(value.kind, plan.ranges)) {
      ++unchecked[static_cast<size_t>(value.kind)];
      continue;
    }
    if (value.Twice()) ++report.twice;
    if (auto why = WhyOutside(value, plan.ranges))
      report.outside.push_back({value, *std::move(why)});
  }
  for (const ValueKind kind : kValueKinds) {
    const size_t count = unchecked[static_cast<size_t>(kind)];
    if (count > 0) report.unchecked.push_back({.kind = kind, .values = count});
  }
  plan.used = std::move(report);
}

}  // namespace berth::cli
