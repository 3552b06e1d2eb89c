// The reference model of ranges, and of values that are reserved, held or cooling.
#include <algorithm>
#include <utility>

#include "model/services_rules.h"

namespace berth::model {
namespace {

Verdict Only(Classes classes) { return {.classes = classes}; }

/// Returns whether a change is blocked by values that a range has and that no range would have
/// afterwards. Cooling values do not block it. A record that a user creates through
/// networking.k8s.io can be anywhere, and may be created while the change is decided.
Classes Blocked(const World& world, const RangeSpec& old, const Cluster& after) {
  const Range before(old);
  Classes classes = kOk;
  for (const auto& [value, record] : world.records) {
    if (record.state == Record::State::kCooling || PoolOfValue(value) != old.pool) continue;
    if (!before.Has(value) || after.Covers(value)) continue;
    if (!record.by_hand) return kBlocked;
    classes = kOk | kBlocked;
  }
  return classes;
}

Verdict Become(const World& world, const RangeSpec* old, Cluster::Specs next) {
  const Cluster after(next, *world.cluster);
  const Classes classes = old == nullptr ? kOk : Blocked(world, *old, after);
  return {.classes = classes, .ranges = std::move(next)};
}

/// Sets a range. Making a range primary demotes the previous one.
void SetRange(Cluster::Specs& specs, const RangeSpec& range) {
  if (range.primary) {
    for (auto& [key, other] : specs) other.primary = false;
  }
  specs[Cluster::KeyOf(range)] = range;
}

}  // namespace

Verdict JudgeRange(const World& world, const Request& request) {
  const std::string key = Cluster::KeyOf(request.range);
  const RangeSpec* old = world.cluster->Find(key);
  const bool makes = request.verb == Verb::kMakeRange;
  if (makes && old != nullptr) return Only(kExists);
  if (!makes && old == nullptr) return Only(kMissing);
  Cluster::Specs next = world.cluster->ToSpecs();
  if (request.verb == Verb::kDropRange) {
    if (old->IsWellKnown()) return Only(kInvalid);
    if (old->primary) return Only(kRefused);
    next.erase(key);
  } else {
    if (old != nullptr && *old == request.range) return {.classes = kOk, .ranges = std::move(next)};
    if (old != nullptr && old->primary && !request.range.primary) return Only(kInvalid);
    SetRange(next, request.range);
  }
  if (!world.form.IsRecords()) return Only(kRefused);
  return Become(world, old, std::move(next));
}

Verdict JudgeRecord(const World& world, const Request& request, const Settings& settings) {
  const Record* record = world.RecordOf(request.name);
  // The store is about to remove it, but the decision may have been made a moment before.
  const bool ended = record != nullptr && record->until && *record->until <= settings.now;
  if (!world.form.IsRecords()) return Only(kRefused);
  const bool cools = record != nullptr && record->state == Record::State::kCooling;
  switch (request.verb) {
    case Verb::kReserve:
      if (record == nullptr || cools) return Only(kOk);
      return Only(ended ? kExists | kOk : kExists);
    case Verb::kKeep: {
      const Classes free = world.cluster->Covers(request.name) ? kOk : kInvalid;
      if (record == nullptr || cools) return Only(free);
      return Only(ended ? kExists | free : kExists);
    }
    case Verb::kUnreserve:
      if (record == nullptr) return Only(kMissing);
      return Only(record->state == Record::State::kAllocated ? kConflict : kOk);
    default:
      if (record == nullptr) return Only(kMissing);
      return Only(ended ? kMissing | kOk : kOk);
  }
}

}  // namespace berth::model
