#include "audit/value_checks.h"

#include <algorithm>
#include <utility>

namespace berth::audit {
namespace {

using alloc::PoolId;
using alloc::PoolValue;

/// Returns whether records of a pool's values say which of them are taken.
bool RecordsCountFor(Keeps keeps, PoolId pool) {
  switch (keeps) {
    case Keeps::kRecords:
    case Keeps::kBoth:
      return true;
    case Keeps::kAddressesOnly:
      return pool != PoolId::kPorts;
    case Keeps::kBitmaps:
    case Keeps::kNothing:
      break;
  }
  return false;
}

bool BitmapsCountFor(Keeps keeps) { return keeps == Keeps::kBitmaps || keeps == Keeps::kBoth; }

const RecordExtras& ExtrasOf(const ValueWorld& world, const KeptRecord& record) {
  static const RecordExtras none;
  return record.more == KeptRecord::kNothingMore ? none : world.extras[record.more];
}

bool HasOtherPurpose(const ValueWorld& world, const PoolValue& value, const RecordExtras& extras) {
  if (value.pool != PoolId::kPorts) return false;
  const PortPurpose* held = world.port_uses.Find(static_cast<uint16_t>(value.value));
  return held != nullptr && !SaysSo(extras.health_check, extras.ports, *held);
}

using Found = std::function<void(FindingKind)>;

/// A value that no range contains cannot have a record or a bit, so `covered` is whether it should.
void CheckOnlyHolder(const ValueWorld& world, const PoolValue& value, const ValueView& view,
                     bool covered, const Found& found) {
  const ServiceTable::Id holder = view.holders.front();
  const bool records = RecordsCountFor(world.keeps, value.pool);
  const bool bitmaps = BitmapsCountFor(world.keeps);
  const bool in_records = records && view.record;
  const bool in_bitmap = bitmaps && view.bit;
  if ((records || bitmaps) && covered && !in_records && !in_bitmap) found(FindingKind::kNoRecord);
  if (!in_records) return;
  const RecordExtras& extras = ExtrasOf(world, *view.record);
  if (view.record->service != holder) return found(FindingKind::kWrongOwner);
  if (extras.state == RecordState::kFree || extras.state == RecordState::kPending) {
    return found(FindingKind::kWrongOwner);
  }
  if (!extras.service_uid.empty() && !world.services.HasUid(holder, extras.service_uid)) {
    found(FindingKind::kWrongUid);
  }
  if (HasOtherPurpose(world, value, extras)) found(FindingKind::kWrongPurpose);
}

void CheckWithoutHolder(const ValueWorld& world, const PoolValue& value, const ValueView& view,
                        const Found& found) {
  if (BitmapsCountFor(world.keeps) && view.bit) return found(FindingKind::kOrphan);
  if (!view.record || !RecordsCountFor(world.keeps, value.pool)) return;
  const RecordExtras& extras = ExtrasOf(world, *view.record);
  switch (extras.state) {
    case RecordState::kAllocated:
      return found(FindingKind::kOrphan);
    case RecordState::kReserved:
    case RecordState::kPending:
      if (!extras.reserved_for.empty() && !world.ranges.GivesOut(value)) {
        found(FindingKind::kLostReservation);
      }
      return;
    case RecordState::kFree:
      return;
  }
}

/// Returns whether it is known which values ranges contain. A Kubernetes cluster does not show its
/// range of node ports.
bool KnowsRanges(const ValueWorld& world, PoolId pool) {
  const bool all = world.keeps != Keeps::kAddressesOnly && world.keeps != Keeps::kNothing;
  return all || world.ranges.HasRanges(pool);
}

RecordWords RecordWordsOf(const ValueWorld& world, const PoolValue& value,
                          const KeptRecord& record) {
  const RecordExtras& extras = ExtrasOf(world, record);
  RecordWords words{
      .object = {.resource = value.pool == PoolId::kPorts ? "nodeports" : "ipaddresses",
                 .name = alloc::TextOf(value),
                 .revision = record.revision},
      .state = extras.state,
      .service_uid = extras.service_uid,
      .reserved_for = extras.reserved_for,
      .range = world.ranges.ReferenceText(record.range),
      .family = extras.wrong_family,
      .health_check = extras.health_check,
      .ports = extras.ports};
  if (record.service != ServiceTable::kNone) {
    words.service = world.services.NameOf(record.service);
    words.service_exists = world.services.Exists(record.service);
  }
  return words;
}

}  // namespace

void CheckValue(const ValueWorld& world, PoolId pool, const ValueView& view, const Found& found) {
  const PoolValue value{.pool = pool, .value = view.value};
  const bool covered = !KnowsRanges(world, pool) || world.ranges.Covers(value);
  if (view.holders.size() > 1) {
    found(FindingKind::kTwoOwners);
  } else if (view.holders.size() == 1) {
    CheckOnlyHolder(world, value, view, covered, found);
  } else {
    CheckWithoutHolder(world, value, view, found);
  }
  if (!view.holders.empty() && !covered) {
    found(world.ranges.WhyUnusable(value).empty() ? FindingKind::kOutOfRange
                                                  : FindingKind::kUnusable);
  }
  if (!view.record || !RecordsCountFor(world.keeps, pool)) return;
  if (!ExtrasOf(world, *view.record).wrong_family.empty()) found(FindingKind::kWrongFamily);
  // A value that no range contains has been reported. No reference could be right.
  if (!covered && !view.holders.empty()) return;
  switch (world.ranges.CheckReference(view.record->range, value)) {
    case RangeChecks::Refers::kFine:
      return;
    case RangeChecks::Refers::kToNoRange:
      return found(FindingKind::kUnknownRange);
    case RangeChecks::Refers::kToAnotherRange:
      return found(FindingKind::kRangeWithoutValue);
  }
}

alloc::State StateOf(const ValueWorld& world, const ValueView& view) {
  if (!view.holders.empty()) return alloc::State::kTaken;
  if (world.keeps == Keeps::kBitmaps) {
    return view.bit ? alloc::State::kTaken : alloc::State::kFree;
  }
  if (!view.record) return alloc::State::kFree;
  switch (ExtrasOf(world, *view.record).state) {
    case RecordState::kAllocated:
      return alloc::State::kTaken;
    case RecordState::kReserved:
    case RecordState::kPending:
      return alloc::State::kReserved;
    case RecordState::kFree:
      break;
  }
  return alloc::State::kCooling;
}

ValueWords WordsOf(const ValueWorld& world, PoolId pool, const ValueView& view) {
  const PoolValue value{.pool = pool, .value = view.value};
  ValueWords words{.value = value, .owner_count = view.holders.size(), .bit = view.bit};
  std::vector<ServiceTable::Id> holders = view.holders;
  std::ranges::sort(holders, [&world](ServiceTable::Id a, ServiceTable::Id b) {
    return world.services.Less(a, b);
  });
  if (holders.size() > kNamesInText) holders.resize(kNamesInText);
  for (const ServiceTable::Id holder : holders)
    words.owners.push_back(world.services.RefOf(holder));
  if (pool == PoolId::kPorts) {
    const PortPurpose* held = world.port_uses.Find(static_cast<uint16_t>(value.value));
    if (held != nullptr) words.held = *held;
  }
  if (view.record && RecordsCountFor(world.keeps, pool)) {
    words.record = RecordWordsOf(world, value, *view.record);
  }
  if (BitmapsCountFor(world.keeps) && world.bitmaps[pool]) {
    words.bitmap = world.bitmaps[pool]->object;
    words.bitmap_range = world.bitmaps[pool]->range;
  }
  words.records_count = RecordsCountFor(world.keeps, pool);
  words.why_unusable = world.ranges.WhyUnusable(value);
  words.why_withheld = world.ranges.WhyWithheld(value);
  words.right_range = world.ranges.RangeOf(value);
  return words;
}

}  // namespace berth::audit
