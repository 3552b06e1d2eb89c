#include "controllers/range_status_keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "allocation/fences.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/range_status.h"
#include "allocation/records.h"
#include "codec/read.h"

namespace berth::controllers {
namespace {

using codec::Value;

constexpr std::chrono::seconds kStatusEvery{1};
constexpr int kStatusesAtOnce = 32;
constexpr std::chrono::milliseconds kPause{125};

/// Returns whether the status of the range has changed since `before`.
bool HasNewStatus(const registry::Row& row, const state::ObjectPtr& before, const Value& range) {
  const Value* has = range.Find("status");
  if (has == nullptr || before == nullptr) return has != nullptr;
  const auto old = registry::DecodeWithoutManagedFields(row, *before);
  const Value* had = old ? old->Find("status") : nullptr;
  return had == nullptr || *had != *has;
}

}  // namespace

/// Each change of ranges puts the fence, so the fence's revision identifies the ranges that were
/// counted.
bool AreCountsOf(const state::Snapshot& snapshot, const allocation::RangeState& range) {
  const state::ObjectPtr fence = snapshot.Find(allocation::FenceKey(range.pool));
  return !range.closing && range.fence == (fence ? fence->Revision() : 0);
}

std::optional<DueStatus> DueStatusOf(const registry::Registry& registry,
                                     const allocation::RangeState& range,
                                     const StatusFacts& facts) {
  if (range.kind == alloc::RangeKind::kServiceCidr) return std::nullopt;
  const allocation::RecordRows rows = allocation::RecordRowsOf(registry.GetKinds());
  const registry::Row& row =
      range.kind == alloc::RangeKind::kIpRange ? *rows.ip_ranges : *rows.node_port_ranges;
  const auto stored = facts.snapshot.Find(row.prefix + range.name);
  if (stored == nullptr) return std::nullopt;
  const auto object = registry::Registry::Decode(row, *stored);
  if (!object) return std::nullopt;
  allocation::RangeFaults faults{.skew = facts.skew.About(range, *object, facts.families)};
  if (facts.findings != nullptr) faults.found = facts.findings->Of({range.kind, range.name});
  Value status = allocation::RangeStatusOf(*object, range, facts.now, faults);
  const Value* before = object->Find("status");
  if (before != nullptr && *before == status) return std::nullopt;
  return DueStatus{
      .target = {.served = {.row = &row, .view = row.views.data()}, .name = range.name},
      .uid = std::string(codec::StringAt(*object, "metadata", "uid")),
      .status = std::move(status)};
}

void DueStatus::ApplyTo(Value& range) const {
  const bool same =
      codec::IntAt(range, "metadata", "generation") == codec::IntAt(status, "observedGeneration");
  if (same) codec::SetAt(range, {"status"}, status);
}

RangeStatusKeeper::RangeStatusKeeper(const Context& context, allocation::Ledger& ledger,
                                     const JobLease& job, const RangeFindings* findings)
    : context_(context),
      ledger_(ledger),
      job_(job),
      findings_(findings),
      rows_(allocation::RecordRowsOf(context.registry.GetKinds())),
      look_(context.clock.Steady() + kStatusEvery),
      due_(look_) {}

/// Every changed range is checked again, since a client may have written a status, which is
/// corrected. Only a new status delays the next write, so a client that keeps changing labels does
/// not.
void RangeStatusKeeper::OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) {
  const state::ObjectPtr& last = now == nullptr ? before : now;
  if (last != nullptr && last->Resource() == rows_.replicas->resource) replicas_changed_ = true;
  if (now == nullptr) return;
  for (const registry::Row* row : {rows_.ip_ranges, rows_.node_port_ranges}) {
    if (now->Resource() != row->resource) continue;
    seen_ = 0;
    const auto object = registry::DecodeWithoutManagedFields(*row, *now);
    if (!object || !HasNewStatus(*row, before, *object)) continue;
    written_.insert_or_assign(RangeId(row->resource, now->Name()), context_.clock.Steady());
  }
}

bool RangeStatusKeeper::Work() {
  const base::SteadyTime now = context_.clock.Steady();
  std::erase_if(written_, [now](const auto& one) { return now - one.second >= kStatusEvery; });
  if (now < NextDue()) return false;
  if (!HasJob()) {
    ranges_.clear();
    look_ = due_ = now + kStatusEvery;
    return false;
  }
  if (ranges_.empty()) {
    retry_ = base::SteadyTime::max();
    look_ = due_ = now + kStatusEvery;
    CompareReplicas();
    const uint64_t changes = Changes();
    if (changes == seen_) return false;
    seen_ = changes;
    ranges_ = allocation::LedgerView(ledger_).RangesInForceOrNot();
  }
  WriteSome();
  due_ = ranges_.empty() ? std::max(look_, now) : now + kPause;
  return true;
}

bool RangeStatusKeeper::HasJob() {
  const bool had = std::exchange(had_job_, job_.IsMine());
  if (had_job_ && !had) seen_ = 0;
  return had_job_;
}

/// A replica that only renews its registration changes nothing.
void RangeStatusKeeper::CompareReplicas() {
  if (!std::exchange(replicas_changed_, false)) return;
  allocation::ReplicaSkew skew(allocation::ReplicasIn(rows_, *context_.follower.Current()));
  if (skew == skew_) return;
  skew_ = std::move(skew);
  seen_ = 0;
}

uint64_t RangeStatusKeeper::Changes() const {
  return allocation::LedgerView(ledger_).Changes() +
         (findings_ == nullptr ? 0 : findings_->Version());
}

void RangeStatusKeeper::WriteSome() {
  const state::SnapshotPtr snapshot = context_.follower.Current();
  const StatusFacts facts{.snapshot = *snapshot,
                          .now = context_.clock.Now(),
                          .skew = skew_,
                          .families = ledger_.Families(),
                          .findings = findings_};
  for (int written = 0; written < kStatusesAtOnce && !ranges_.empty(); ranges_.pop_back()) {
    if (!context_.writer.HasRoom()) return;
    if (Write(ranges_.back(), facts)) ++written;
  }
}

bool RangeStatusKeeper::Write(const RangeState& range, const StatusFacts& facts) {
  if (!AreCountsOf(facts.snapshot, range)) {
    seen_ = 0;  // The next check has the right counts.
    return false;
  }
  auto due = DueStatusOf(context_.registry, range, facts);
  if (!due) return false;
  const RangeId id(due->target.served.row->resource, range.name);
  const auto [last, may] = written_.emplace(id, context_.clock.Steady());
  if (!may) {
    seen_ = 0;  // The next check is made as soon as the range may be written again.
    retry_ = std::min(retry_, last->second + kStatusEvery);
    return false;
  }
  context_.writer.Update(
      due->target, registry::Door::kStatus, due->uid,
      [due = *due](Value& object) { due.ApplyTo(object); },
      [this](const base::Result<registry::Outcome>& outcome) {
        if (!outcome) seen_ = 0;  // It is checked again.
      });
  return true;
}

}  // namespace berth::controllers
