#include "controllers/range_status_keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "codec/read.h"
#include "registry/range_status.h"
#include "registry/records.h"

namespace berth::controllers {
namespace {

using codec::Value;
using commit::PoolId;

constexpr std::chrono::seconds kLookEvery{1};
constexpr int kWritesAtOnce = 32;
constexpr std::chrono::milliseconds kPause{125};

/// Whether the range had this status before.
bool HasStatusOf(const registry::Row& row, const state::ObjectPtr& before, const Value& range) {
  if (before == nullptr) return false;
  const auto old = registry::DecodeWithoutManagedFields(row, *before);
  if (!old) return false;
  const Value* had = old->Find("status");
  const Value* has = range.Find("status");
  return had != nullptr && has != nullptr && *had == *has;
}

}  // namespace

std::optional<DueStatus> DueStatusOf(const registry::Registry& registry,
                                     const state::Snapshot& picture,
                                     const commit::Allocations::RangeState& range,
                                     base::WallTime now) {
  if (range.kind == alloc::RangeKind::kServiceCidr) return std::nullopt;
  const registry::RecordRows rows = registry::RecordRowsOf(registry.GetKinds());
  const registry::Row& row =
      range.kind == alloc::RangeKind::kIpRange ? *rows.ip_ranges : *rows.node_port_ranges;
  const auto stored = picture.Find(row.prefix + range.name);
  if (stored == nullptr) return std::nullopt;
  const auto object = registry::Registry::Decode(row, *stored);
  if (!object) return std::nullopt;
  Value status = registry::RangeStatusOf(*object, range, now);
  const Value* before = object->Find("status");
  if (before != nullptr && *before == status) return std::nullopt;
  return DueStatus{
      .target = {.served = {.row = &row, .view = row.views.data()}, .name = range.name},
      .uid = std::string(codec::StringAt(*object, "metadata", "uid")),
      .status = std::move(status)};
}

RangeStatusKeeper::RangeStatusKeeper(const Context& context, commit::Allocations& allocations)
    : context_(context),
      allocations_(allocations),
      rows_(registry::RecordRowsOf(context.registry.GetKinds())),
      look_(context.clock.Steady() + kLookEvery),
      due_(look_) {}

/// A status that is of an older spec is one to look at. Otherwise that is what somebody wrote: this
/// server, another one, or a person, whose word does not stay. Who writes labels all the time keeps
/// nobody from writing the status.
void RangeStatusKeeper::OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) {
  if (now == nullptr) return;
  for (const registry::Row* row : {rows_.ip_ranges, rows_.node_port_ranges}) {
    if (now->Resource() != row->resource) continue;
    const auto object = registry::DecodeWithoutManagedFields(*row, *now);
    const bool seen = object && codec::IntAt(*object, "status", "observedGeneration") ==
                                    codec::IntAt(*object, "metadata", "generation");
    RangeId id(row->resource, now->Name());
    if (!seen) {
      changed_.insert(std::move(id));
      continue;
    }
    seen_ = 0;
    if (!HasStatusOf(*row, before, *object)) {
      written_.insert_or_assign(std::move(id), context_.clock.Steady());
    }
  }
}

bool RangeStatusKeeper::Work() {
  const base::SteadyTime now = context_.clock.Steady();
  std::erase_if(written_, [now](const auto& one) { return now - one.second >= kLookEvery; });
  if (WriteChanged()) return true;
  if (now < NextDue()) return false;
  if (ranges_.empty()) {
    retry_ = base::SteadyTime::max();
    look_ = due_ = now + kLookEvery;
    const uint64_t changes = allocations_.Changes();
    if (changes == seen_) return false;
    seen_ = changes;
    ranges_ = allocations_.RangesInForceOrNot();
  }
  WriteSome();
  due_ = ranges_.empty() ? std::max(look_, now) : now + kPause;
  return true;
}

bool RangeStatusKeeper::WriteChanged() {
  const state::SnapshotPtr picture = context_.follower.Current();
  bool any = false;
  for (int written = 0;
       written < kWritesAtOnce && !changed_.empty() && context_.writer.HasRoom();) {
    const auto [resource, name] = *changed_.begin();
    changed_.erase(changed_.begin());
    bool found = false;
    for (const PoolId pool : {PoolId::kIpv4, PoolId::kIpv6, PoolId::kPorts}) {
      const bool ports = pool == PoolId::kPorts;
      if (ports != (resource == rows_.node_port_ranges->resource)) continue;
      const auto range = allocations_.RangeNamed(pool, name);
      found = found || range;
      if (range && Write(*range, *picture)) ++written;
    }
    if (!found) seen_ = 0;  // It is not in force, or gone: the next look tells.
    any = true;
  }
  return any;
}

void RangeStatusKeeper::WriteSome() {
  const state::SnapshotPtr picture = context_.follower.Current();
  for (int written = 0; written < kWritesAtOnce && !ranges_.empty(); ranges_.pop_back()) {
    if (!context_.writer.HasRoom()) return;
    if (Write(ranges_.back(), *picture)) ++written;
  }
}

bool RangeStatusKeeper::Write(const RangeState& range, const state::Snapshot& picture) {
  if (range.closing) {
    seen_ = 0;  // What it has is known when it is decided.
    return false;
  }
  auto due = DueStatusOf(context_.registry, picture, range, context_.clock.Now());
  if (!due) return false;
  const RangeId id(due->target.served.row->resource, range.name);
  const auto [last, may] = written_.emplace(id, context_.clock.Steady());
  if (!may) {
    seen_ = 0;  // The next look comes as soon as it may be written again.
    retry_ = std::min(retry_, last->second + kLookEvery);
    return false;
  }
  context_.writer.Update(
      std::move(due->target), registry::Door::kStatus, std::move(due->uid),
      [status = std::move(due->status)](Value& object) {
        codec::SetAt(object, {"status"}, status);
      },
      [this](const base::Result<registry::Outcome>& outcome) {
        if (!outcome) seen_ = 0;  // It is looked at again.
      });
  return true;
}

}  // namespace berth::controllers
