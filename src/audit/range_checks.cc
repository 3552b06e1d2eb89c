#include "audit/range_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "audit/words.h"
#include "rules/range_spec.h"
#include "rules/record_notes.h"

namespace berth::audit {
namespace {

using alloc::PoolId;
using alloc::PoolValue;
using alloc::RangeKind;

constexpr std::string_view kDefaultCidr = "kubernetes";

const alloc::Unusable* UnusableIn(const alloc::Layout& layout, base::U128 value) {
  for (const alloc::Unusable& each : layout.unusable()) {
    if (each.values.Contains(value)) return &each;
  }
  return nullptr;
}

/// Returns whether the value lies between the ends of the range, usable or not.
bool LiesIn(const alloc::Layout& layout, base::U128 value) {
  return layout.Contains(value) || UnusableIn(layout, value) != nullptr;
}

std::string WhatWithholds(const alloc::RangeRow& row) {
  if (row.leaving) return fmt::format("\"{}\" is being deleted", row.name);
  if (row.makes_way) return fmt::format("\"{}\" makes way for another range", row.name);
  if (!row.open) return fmt::format("\"{}\" is disabled", row.name);
  return fmt::format("\"{}\" excludes it", row.name);
}

}  // namespace

void RangeChecks::Add(const RangeObjectFacts& range) { objects_.push_back(range); }

uint32_t RangeChecks::Reference(const std::string& text) {
  if (text.empty()) return 0;
  if (const auto known = reference_numbers_.find(text); known != reference_numbers_.end()) {
    return known->second;
  }
  const auto number = static_cast<uint32_t>(references_.size());
  references_.push_back(text);
  reference_numbers_.emplace(text, number);
  return number;
}

void RangeChecks::Prepare() {
  std::ranges::sort(objects_, {}, &RangeObjectFacts::key);
  alloc::RangeObjects in_force;
  for (const RangeObjectFacts& object : objects_) {
    by_name_.emplace(ObjectId(object.range.kind, object.object.name), &object);
    if (object.in_force) in_force.emplace(object.key, object.range);
  }
  table_ = alloc::MakeRangeTable(in_force, {});
  for (const PoolId id : alloc::kAllPools) {
    Pool& pool = pools_[id];
    std::vector<std::optional<alloc::Interval>> spans;
    for (const alloc::RangeRow& row : Rows(id)) spans.push_back(row.layout.span());
    pool.counted.assign(spans.size(), {.used = 0, .reserved = 0, .cooling = 0});
    pool.coverage.emplace(Rows(id));
    pool.segments = alloc::Segments(spans);
  }
}

const RangeObjectFacts* RangeChecks::Find(RangeKind kind, std::string_view name) const {
  const auto found = by_name_.find(ObjectId(kind, name));
  return found == by_name_.end() ? nullptr : found->second;
}

bool RangeChecks::Covers(const PoolValue& value) const {
  return pools_[value.pool].coverage->Covers(value.value);
}

std::string RangeChecks::WhyUnusable(const PoolValue& value) const {
  if (Covers(value)) return {};
  for (const alloc::RangeRow& row : Rows(value.pool)) {
    if (const alloc::Unusable* unusable = UnusableIn(row.layout, value.value)) {
      const bool ends = unusable->why.ends_with("address");
      return fmt::format("it is {}{}{} the range \"{}\" ({})", ends ? "the " : "", unusable->why,
                         ends ? " of" : ", in", row.name, row.text);
    }
  }
  return {};
}

bool RangeChecks::GivesOut(const PoolValue& value) const {
  return std::ranges::any_of(pools_[value.pool].segments.Of(value.value), [&](uint32_t place) {
    const alloc::RangeRow& row = Rows(value.pool)[place];
    return row.open && row.layout.GivesOut(value.value);
  });
}

std::string RangeChecks::WhyWithheld(const PoolValue& value) const {
  std::vector<std::string> why;
  for (const uint32_t place : pools_[value.pool].segments.Of(value.value)) {
    if (why.size() == kNamesInText) break;
    why.push_back(WhatWithholds(Rows(value.pool)[place]));
  }
  if (why.empty()) return "no range contains it";
  return fmt::format("the range {}", fmt::join(why, ", and the range "));
}

const RangeObjectFacts* RangeChecks::Referred(uint32_t reference, PoolId pool) const {
  std::string_view name = references_[reference];
  if (pool == PoolId::kPorts) return Find(RangeKind::kNodePortRange, name);
  if (name.starts_with(rules::kServiceCidrNote)) {
    return Find(RangeKind::kServiceCidr, name.substr(rules::kServiceCidrNote.size()));
  }
  if (const RangeObjectFacts* range = Find(RangeKind::kIpRange, name)) return range;
  // The default ServiceCIDR is referred to by the name of its IPRange, even if that does not exist.
  return name == rules::WellKnownRange(pool) ? Find(RangeKind::kServiceCidr, kDefaultCidr)
                                             : nullptr;
}

RangeChecks::Refers RangeChecks::CheckReference(uint32_t reference, const PoolValue& value) const {
  if (reference == 0) return Refers::kFine;
  const RangeObjectFacts* range = Referred(reference, value.pool);
  if (range == nullptr) return Refers::kToNoRange;
  const auto has = [&value](const alloc::RangeFacts::Part& part) {
    return part.pool == value.pool && LiesIn(part.row.layout, value.value);
  };
  return std::ranges::any_of(range->range.parts, has) ? Refers::kFine : Refers::kToAnotherRange;
}

std::string RangeChecks::RangeOf(const PoolValue& value) const {
  const auto places = pools_[value.pool].segments.Of(value.value);
  return places.empty() ? std::string() : Rows(value.pool)[places.front()].name;
}

void RangeChecks::Count(const PoolValue& value, alloc::State state) {
  Pool& pool = pools_[value.pool];
  for (const uint32_t place : pool.segments.Of(value.value)) {
    // An excluded value counts only if a Service has it.
    const bool taken = state == alloc::State::kTaken;
    if (!taken && !Rows(value.pool)[place].layout.GivesOut(value.value)) continue;
    RangeCounts& counted = pool.counted[place];
    ++*(taken                              ? counted.used
        : state == alloc::State::kReserved ? counted.reserved
                                           : counted.cooling);
  }
}

void RangeChecks::CheckCounts(Findings& findings) const {
  const auto same = [](const std::optional<base::U128>& says, const std::optional<base::U128>& is) {
    return !says || *says == static_cast<base::U128>(base::SaturateToInt64(*is));
  };
  for (const PoolId pool : alloc::kAllPools) {
    for (size_t place = 0; place < Rows(pool).size(); ++place) {
      const RangeCounts& counted = pools_[pool].counted[place];
      const RangeObjectFacts* range = Find(Rows(pool)[place].kind, Rows(pool)[place].name);
      if (range == nullptr) continue;
      const RangeCounts& says = range->counts;
      if (same(says.used, counted.used) && same(says.reserved, counted.reserved) &&
          same(says.cooling, counted.cooling)) {
        continue;
      }
      findings.Add(WrongCount(range->object, says, counted));
    }
  }
}

void RangeChecks::CheckPrimaries(Findings& findings) const {
  std::vector<const ObjectRef*> primaries;
  for (const RangeObjectFacts& object : objects_) {
    if (object.range.primary) primaries.push_back(&object.object);
  }
  if (primaries.size() > 1) findings.Add(TwoPrimaries(primaries));
}

}  // namespace berth::audit
