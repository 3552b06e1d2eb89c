#include "inspect/whois.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "inspect/free_near.h"
#include "inspect/names.h"

namespace berth::inspect {
namespace {

using alloc::Band;
using alloc::PoolValue;
using alloc::State;
using base::U128;

constexpr size_t kSafeNear = 3;
constexpr size_t kLookedAt = 1024;  // Another range may make the nearest ones unsafe.
constexpr size_t kSimilar = 5;

std::vector<Place> PlacesOf(const Census& census, const PoolValue& value) {
  std::vector<Place> places;
  for (const RangeRef& range : census.RangesOf(value)) {
    const alloc::Layout& layout = range.row->layout;
    Place place{.range = range, .band = layout.BandOf(value.value)};
    place.excluded = layout.Excludes(value.value);
    for (const alloc::Unusable& each : layout.unusable()) {
      if (each.values.Contains(value.value)) place.why_unusable = each.why;
    }
    places.push_back(place);
  }
  // The network and broadcast addresses lie in no span, so the census does not know their range.
  for (const RangeRef& range : census.ranges()) {
    if (range.pool != value.pool || range.row->layout.Contains(value.value)) continue;
    for (const alloc::Unusable& each : range.row->layout.unusable()) {
      if (!each.values.Contains(value.value)) continue;
      places.push_back({.range = range, .why_unusable = each.why});
    }
  }
  return places;
}

bool IsExact(const RangeRef& range) { return range.range == nullptr || range.range->exact; }

/// Returns whether the ranges of such values are known. If all of them are assumed, the cluster may
/// have others.
bool KnowsRangesOf(const Census& census, alloc::PoolId pool) {
  return std::ranges::any_of(census.ranges(), [pool](const RangeRef& range) {
    const bool same_sort = (range.pool == alloc::PoolId::kPorts) == (pool == alloc::PoolId::kPorts);
    return same_sort && IsExact(range);
  });
}

/// Returns whether all values of the pool that are in use are seen. Records tell of Services that
/// the user may not see.
bool SeesAllUses(const Census& census, alloc::PoolId pool) {
  return !census.cluster().some_services || ShowsRecords(census, pool);
}

/// Returns whether the bands of a range are guessed. Kubernetes' default range of ports is a better
/// guess than a range around the addresses in use.
bool HasGuessedBands(const RangeRef& range) {
  return range.pool != alloc::PoolId::kPorts && !IsExact(range);
}

Standing StandingOf(const Census& census, const ValueAnswer& answer) {
  if (!answer.owners.empty()) return Standing::kTaken;
  if (answer.record != nullptr) {
    switch (answer.record->facts.state) {
      case rules::RecordState::kAllocated:
        return Standing::kTaken;
      case rules::RecordState::kReserved:
      case rules::RecordState::kPending:
        return Standing::kReserved;
      case rules::RecordState::kFree:
        return Standing::kCooling;
    }
  }
  const bool known = KnowsRangesOf(census, answer.value.pool);
  if (answer.places.empty()) return known ? Standing::kOutside : Standing::kUnknown;
  const auto usable = [](const Place& place) { return place.why_unusable.empty(); };
  if (std::ranges::none_of(answer.places, usable)) {
    return known ? Standing::kUnusable : Standing::kUnknown;
  }
  const bool given_out = std::ranges::any_of(
      answer.places, [&](const Place& place) { return usable(place) && !place.excluded; });
  if (!given_out) return Standing::kExcluded;
  return answer.unseen ? Standing::kUnknown : Standing::kFree;
}

RecordCheck CheckRecord(const Census& census, const ValueAnswer& answer) {
  if (!ShowsRecords(census, answer.value.pool)) return RecordCheck::kNotShown;
  const Record* record = answer.record;
  if (answer.owners.empty()) {
    const bool orphan = record != nullptr && record->facts.state == rules::RecordState::kAllocated;
    return orphan ? RecordCheck::kOrphan : RecordCheck::kAgrees;
  }
  if (record == nullptr) return RecordCheck::kNoRecord;
  const bool same = std::ranges::any_of(answer.owners, [&](const Use& use) {
    return use.service->object.name_space == record->facts.service_namespace &&
           use.service->object.name == record->facts.service_name;
  });
  return same ? RecordCheck::kAgrees : RecordCheck::kOtherOwner;
}

void SetNeighbours(const Census& census, ValueAnswer& answer) {
  const auto uses = census.Uses(answer.value.pool);
  const auto from = std::ranges::lower_bound(uses, answer.value.value, {}, &Use::value);
  if (from != uses.begin()) answer.below = &*std::prev(from);
  const auto behind = std::ranges::upper_bound(uses, answer.value.value, {}, &Use::value);
  if (behind != uses.end()) answer.above = &*behind;
}

void SetSince(ValueAnswer& answer) {
  if (answer.record != nullptr && answer.record->since) {
    answer.since = answer.record->since;
    answer.since_of_record = true;
  } else if (!answer.owners.empty()) {
    answer.since = answer.owners.front().service->created;
  }
}

/// Returns the number of values that the next dynamic pick of a range chooses from, if it may
/// choose a value of this band.
std::optional<U128> PickedFrom(const alloc::Layout& layout, const RangeFigures& figures,
                               Band band) {
  const U128 dynamic = figures.dynamic_band.counts[State::kFree];
  if (band == Band::kDynamic) return dynamic > 0 ? std::optional(dynamic) : std::nullopt;
  const U128 in_static = figures.static_band.counts[State::kFree];
  if (dynamic > 0 || layout.strict() || in_static == 0) return std::nullopt;
  return in_static;
}

/// Adds values of the range's static band that are near, if they are safe.
void AddSafeNear(const Census& census, const RangeRef& range, U128 value, Advice& advice) {
  const alloc::Layout& layout = range.row->layout;
  const auto band = layout.BandSpan(Band::kStatic);
  if (!band || !range.row->open || HasGuessedBands(range)) return;
  if (!SeesAllUses(census, range.pool)) return;
  const RangeFigures figures = census.FiguresOf(range);
  if (PickedFrom(layout, figures, Band::kStatic)) return;
  for (const U128 each : FreeNear(census, range, *band, value, kLookedAt)) {
    if (each == value || advice.safe_near.size() == kSafeNear) continue;
    // A range that overlaps this one may have the value in its dynamic band.
    const auto places = census.RangesOf({.pool = range.pool, .value = each});
    const bool safe = std::ranges::all_of(places, [&](const RangeRef& other) {
      return !other.row->open || other.row->layout.BandOf(each) == Band::kStatic;
    });
    if (safe) advice.safe_near.push_back(each);
  }
}

Advice AdviceFor(const Census& census, const ValueAnswer& answer) {
  Advice advice;
  for (const Place& place : answer.places) {
    if (advice.safe_near.empty()) {
      AddSafeNear(census, place.range, answer.value.value, advice);
    }
  }
  if (answer.places.empty()) {
    for (const RangeRef& range : census.ranges()) {
      if (range.pool != answer.value.pool || !advice.safe_near.empty()) continue;
      AddSafeNear(census, range, answer.value.value, advice);
    }
  }
  if (answer.standing == Standing::kUnknown) advice.verdict = Verdict::kUnknown;
  if (answer.standing != Standing::kFree && answer.standing != Standing::kCooling) return advice;
  if (std::ranges::any_of(answer.places,
                          [](const Place& place) { return HasGuessedBands(place.range); })) {
    advice.verdict = Verdict::kUnknown;
    return advice;
  }
  bool open = false;
  bool spills = false;
  for (const Place& place : answer.places) {
    if (!place.range.row->open || !place.band || place.excluded) continue;
    open = true;
    const auto from =
        PickedFrom(place.range.row->layout, census.FiguresOf(place.range), *place.band);
    if (!from) continue;
    spills = spills || *place.band == Band::kStatic;
    // Several ranges may have the value. The greatest chance counts.
    advice.one_in = advice.one_in ? std::min(*advice.one_in, *from) : *from;
  }
  advice.closed = !open;
  if (!open) return advice;
  advice.verdict = Verdict::kSafe;
  const bool dynamic = std::ranges::any_of(answer.places, [](const Place& place) {
    return place.range.row->open && place.band == Band::kDynamic;
  });
  if (advice.one_in || dynamic) advice.verdict = Verdict::kMayBePicked;
  if (spills) advice.verdict = Verdict::kSpill;
  return advice;
}

/// Returns the Services of this name, in one namespace or in all.
std::vector<const Service*> FindServices(const Cluster& cluster, const Question::Name& name) {
  std::vector<const Service*> found;
  for (const Service& service : cluster.services) {
    const bool here = name.name_space.empty() || service.object.name_space == name.name_space;
    if (here && service.object.name == name.name) found.push_back(&service);
  }
  return found;
}

std::optional<NamespaceAnswer> FindNamespace(const Cluster& cluster, const std::string& name) {
  NamespaceAnswer answer{.name = name};
  for (const Service& service : cluster.services) {
    if (service.object.name_space != name) continue;
    answer.services.push_back(&service);
    for (const Held& held : service.holds) {
      auto& count = answer.counts[held.value.pool];
      ++count.values;
      count.named += held.origin == Origin::kNamed ? 1 : 0;
      count.drawn += held.origin == Origin::kDrawn ? 1 : 0;
    }
  }
  for (const Record& record : cluster.records) {
    const bool kept = record.facts.state == rules::RecordState::kReserved ||
                      record.facts.state == rules::RecordState::kPending;
    if (kept && record.facts.reserved_for.starts_with(name + "/")) ++answer.reserved;
  }
  if (answer.services.empty() && answer.reserved == 0) return std::nullopt;
  return answer;
}

std::vector<std::string> SimilarNames(const Cluster& cluster, const std::string& name) {
  std::vector<std::string> similar;
  for (const Service& service : cluster.services) {
    if (similar.size() == kSimilar) break;
    if (service.object.name.find(name) == std::string::npos) continue;
    similar.push_back(PathOf(service));
  }
  return similar;
}

void AskName(const Census& census, const Question::Name& name, WhoisAnswer& answer) {
  constexpr std::array<std::string_view, 3> kServiceWords = {"svc", "service", "services"};
  constexpr std::array<std::string_view, 3> kNamespaceWords = {"ns", "namespace", "namespaces"};
  const auto is_one_of = [&](const auto& words) {
    return std::ranges::find(words, name.name_space) != words.end();
  };
  const Cluster& cluster = census.cluster();
  answer.services = FindServices(cluster, name);
  if (answer.services.empty() && is_one_of(kServiceWords)) {
    answer.services = FindServices(cluster, {.name = name.name});
  }
  if (name.name_space.empty() || (answer.services.empty() && is_one_of(kNamespaceWords))) {
    answer.name_space = FindNamespace(cluster, name.name);
  }
  if (name.name_space.empty()) {
    for (const RangeRef& range : census.ranges()) {
      if (range.row->name == name.name) answer.ranges.push_back(range);
    }
  }
  if (!answer.Found()) answer.similar = SimilarNames(cluster, name.name);
}

}  // namespace

std::string_view NameOf(Standing standing) {
  switch (standing) {
    case Standing::kFree:
      return "free";
    case Standing::kTaken:
      return "taken";
    case Standing::kReserved:
      return "reserved";
    case Standing::kCooling:
      return "cooling";
    case Standing::kExcluded:
      return "excluded";
    case Standing::kUnusable:
      return "unusable";
    case Standing::kOutside:
      return "outside";
    case Standing::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view NameOf(RecordCheck check) {
  switch (check) {
    case RecordCheck::kAgrees:
      return "Agrees";
    case RecordCheck::kNotShown:
      return "NotShown";
    case RecordCheck::kNoRecord:
      return "NoRecord";
    case RecordCheck::kOrphan:
      return "Orphan";
    case RecordCheck::kOtherOwner:
      break;
  }
  return "OtherOwner";
}

std::string_view NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSafe:
      return "Safe";
    case Verdict::kMayBePicked:
      return "MayBePicked";
    case Verdict::kSpill:
      return "Spill";
    case Verdict::kNotNow:
      return "NotNow";
    case Verdict::kUnknown:
      break;
  }
  return "Unknown";
}

ValueAnswer LookUp(const Census& census, const PoolValue& value) {
  ValueAnswer answer{.value = value};
  const auto owners = census.UsesOf(value);
  answer.owners.assign(owners.begin(), owners.end());
  answer.record = census.RecordOf(value);
  answer.unseen =
      answer.owners.empty() && answer.record == nullptr && !SeesAllUses(census, value.pool);
  answer.places = PlacesOf(census, value);
  answer.standing = StandingOf(census, answer);
  answer.check = CheckRecord(census, answer);
  SetSince(answer);
  return answer;
}

ValueAnswer AskValue(const Census& census, const PoolValue& value, const History& history) {
  ValueAnswer answer = LookUp(census, value);
  SetNeighbours(census, answer);
  answer.advice = AdviceFor(census, answer);
  if (history) answer.history = history(value);
  return answer;
}

WhoisAnswer Ask(const Census& census, const Question& question, const History& history) {
  WhoisAnswer answer{.asked = question.asked};
  if (question.value) answer.value = AskValue(census, *question.value, history);
  if (question.range) {
    for (const RangeRef& range : census.ranges()) {
      if (range.pool == question.range->pool && AllValuesOf(*range.row) == question.range->values) {
        answer.ranges.push_back(range);
      }
    }
  }
  if (question.name) AskName(census, *question.name, answer);
  return answer;
}

}  // namespace berth::inspect
