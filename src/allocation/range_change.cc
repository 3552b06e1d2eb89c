#include "allocation/range_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "allocation/allocation_forms.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/range_status.h"
#include "allocation/withheld.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "merge/managed_fields.h"
#include "registry/object_errors.h"
#include "registry/registry.h"
#include "state/object.h"

namespace berth::allocation {
namespace {

using codec::Value;
using commit::Decision;
using commit::Refusal;

/// Returns what the pool's fence says if it is closed.
std::optional<ClosedFence> FenceOf(const RecordRows& rows, const state::Snapshot& snapshot,
                                   PoolId pool) {
  const state::ObjectPtr fence = snapshot.Find(FenceKey(pool));
  return fence ? ReadFence(*rows.fences, *fence) : std::nullopt;
}

int64_t FenceRevision(const state::Snapshot& snapshot, PoolId pool) {
  return state::RevisionOf(snapshot.Find(FenceKey(pool)));
}

/// Returns the decision of a write of the first pool's fence that puts the fences of all of them.
Decision PutFences(const RangeParts& parts, const std::vector<PoolId>& pools,
                   const ClosedFence* closed, const state::Snapshot& snapshot) {
  const base::WallTime now = parts.clock.Now();
  commit::ExtraPut first = FencePut(*parts.rows.fences, pools.front(), closed, now);
  Decision decision{.kind = Decision::Kind::kPut,
                    .stored = std::move(first.stored),
                    .wire = std::move(first.wire)};
  for (size_t i = 1; i < pools.size(); ++i) {
    commit::ExtraPut put = FencePut(*parts.rows.fences, pools[i], closed, now);
    put.expected = FenceRevision(snapshot, pools[i]);
    decision.puts.push_back(std::move(put));
  }
  return decision;
}

Refusal UnderWay(const RangeEdit& edit) {
  return registry::Conflict(*edit.row->kind, edit.name, "another change of ranges is under way");
}

}  // namespace

RangeChange::RangeChange(const RangeParts& parts, const registry::CommonOptions& options,
                         std::string id, bool resets)
    : parts_(parts),
      dry_run_(options.dry_run),
      bootstraps_(options.bootstraps),
      resets_(resets),
      deadline_(options.deadline),
      id_(std::move(id)) {}

// The hooks.

void RangeChange::Begin(Value& /*object*/) { completed_.reset(); }

RangeChange::MaybeRefusal RangeChange::OnCreate(const registry::Attempt& attempt,
                                                registry::Draft& draft, Decision& decision) {
  if (completed_) {
    draft.object = *completed_;
  } else {
    completed_ = draft.object;
  }
  const RangeEdit edit{.row = attempt.target.served.row,
                       .name = attempt.target.name,
                       .old = nullptr,
                       .next = &*completed_};
  return Decide(attempt.snapshot, edit, &draft.object, decision);
}

RangeChange::MaybeRefusal RangeChange::OnUpdate(const registry::Attempt& attempt,
                                                registry::Draft& draft, Decision& decision) {
  if (!resets_ && draft.object == *draft.old) return std::nullopt;
  const RangeEdit edit{.row = attempt.target.served.row,
                       .name = attempt.target.name,
                       .old = draft.old,
                       .next = &draft.object,
                       .resets = resets_};
  return Decide(attempt.snapshot, edit, &draft.object, decision);
}

RangeChange::MaybeRefusal RangeChange::OnDelete(const registry::Attempt& attempt, const Value& old,
                                                Decision& decision) {
  const RangeEdit edit{
      .row = attempt.target.served.row, .name = attempt.target.name, .old = &old, .next = nullptr};
  return Decide(attempt.snapshot, edit, nullptr, decision);
}

std::optional<std::string> RangeChange::Warning(const Value& /*object*/) { return advice_; }

void RangeChange::OnAnswer() {
  if (!closed_.empty()) Open(parts_, id_, std::exchange(closed_, {}), [] {});
}

// The operation.

/// Decides one attempt. `next` is the new state of the range, which gets its status.
RangeChange::MaybeRefusal RangeChange::Decide(const state::Snapshot& snapshot,
                                              const RangeEdit& edit, Value* next,
                                              Decision& decision) {
  if (edit.row != parts_.rows.service_cidrs && IsSameRange(edit, parts_.gates)) return std::nullopt;
  if (verdict_) return Refusal(*verdict_);
  const RangeWorld world(parts_.rows, parts_.gates, snapshot);
  const auto effect = EffectOf(edit, world, parts_.rows, parts_.gates);
  if (!effect) return Refusal(effect.error());
  advice_ = AdviceOn(*effect);
  replicas_ = ReplicasIn(parts_.rows, snapshot);
  if (!effect->pools.empty()) {
    if (auto error = CheckForm(edit, snapshot, decision)) return Refusal(*std::move(error));
  }
  // A change that means nothing here, because a gate of this server is off, is checked as well.
  if (auto error = CheckReplicas(edit, *effect)) return Refusal(*std::move(error));
  if (!effect->pools.empty()) {
    if (!dry_run_) {
      if (auto wait = AwaitOthers(edit, *effect, snapshot)) return wait;
      const bool must_close = effect->TakesValuesAway() && !IsClosed(*effect, snapshot);
      if (must_close) return Close(edit, *effect);
    }
    if (auto refusal = Check(edit, *effect, snapshot)) return refusal;
  }
  Commit(edit, *effect, snapshot, next, decision);
  return std::nullopt;
}

/// Closes the fences of all pools that the change affects, in one write. Pools that only grow are
/// closed too: two changes that each hold one pool could otherwise wait for each other.
RangeChange::MaybeRefusal RangeChange::Close(const RangeEdit& edit, const RangeEffect& effect) {
  Refusal refusal = UnderWay(edit);
  refusal.step = [self = shared_from_this(), pools = effect.pools,
                  closed = ClosedFence{.operation = id_,
                                       .since = parts_.clock.Now(),
                                       .objects = effect.objects}](Again again) {
    self->closed_ = pools;
    commit::Write write{.key = FenceKey(pools.front()), .deadline = self->deadline_};
    write.transform = [self, pools, closed](const state::Snapshot& snapshot,
                                            const state::ObjectPtr&) {
      return self->DecideClose(pools, closed, snapshot);
    };
    self->parts_.sequencer.Submit(std::move(write),
                                  [self, again](const base::Result<commit::Written>& written) {
                                    if (!written) self->verdict_ = written.error();
                                    again();
                                  });
  };
  return refusal;
}

/// Looks in the snapshot for values in use that no range would cover any more.
RangeChange::MaybeRefusal RangeChange::Check(const RangeEdit& edit, const RangeEffect& effect,
                                             const state::Snapshot& snapshot) {
  // The dry-run of a reset says whether anything but default/kubernetes is in the way.
  const bool spare = resets_ && dry_run_;
  auto blocked = FindBlocked(edit, effect, parts_.rows, snapshot,
                             spare ? SpareKubernetes::kYes : SpareKubernetes::kNo);
  if (!blocked) return std::nullopt;
  if (dry_run_) return Refusal(*std::move(blocked));
  return Reopen(*std::move(blocked));
}

/// Adds everything that the change writes: the status of the range, its companions and the fences,
/// open.
void RangeChange::Commit(const RangeEdit& edit, const RangeEffect& effect,
                         const state::Snapshot& snapshot, Value* next, Decision& decision) {
  if (next != nullptr) SetStatus(*edit.row, effect, *next);
  if (effect.pools.empty() || dry_run_) return;
  for (const PoolId pool : effect.pools) {
    decision.compares.push_back({.key = FenceKey(pool), .revision = FenceRevision(snapshot, pool)});
    decision.puts.push_back(FencePut(*parts_.rows.fences, pool, nullptr, parts_.clock.Now()));
  }
  for (const Companion& companion : effect.companions) {
    AddCompanion(companion, effect, snapshot, decision);
  }
  decision.on_outcome = [self = shared_from_this()](bool committed) {
    if (committed) self->closed_.clear();
  };
}

/// Opens the fences again, and then refuses the change.
RangeChange::MaybeRefusal RangeChange::Reopen(base::Error verdict) {
  verdict_ = std::move(verdict);
  Refusal refusal(*verdict_);
  if (closed_.empty()) return refusal;
  refusal.step = [self = shared_from_this()](Again again) {
    Open(self->parts_, self->id_, std::exchange(self->closed_, {}), std::move(again));
  };
  return refusal;
}

// Parts of these steps.

/// Waits while another operation has closed one of the pools.
RangeChange::MaybeRefusal RangeChange::AwaitOthers(const RangeEdit& edit, const RangeEffect& effect,
                                                   const state::Snapshot& snapshot) const {
  for (const PoolId pool : effect.pools) {
    const auto closed = FenceOf(parts_.rows, snapshot, pool);
    if (!closed || closed->operation == id_) continue;
    Refusal refusal = UnderWay(edit);
    refusal.wait = [&ledger = parts_.ledger, pool, seen = FenceRevision(snapshot, pool)](
                       Again again) { return ledger.AwaitFence(pool, seen, std::move(again)); };
    return refusal;
  }
  return std::nullopt;
}

/// Returns whether the fences of all affected pools say what this attempt would change.
bool RangeChange::IsClosed(const RangeEffect& effect, const state::Snapshot& snapshot) const {
  return std::ranges::all_of(effect.pools, [&](PoolId pool) {
    const auto closed = FenceOf(parts_.rows, snapshot, pool);
    return closed && closed->operation == id_ && closed->objects == effect.objects;
  });
}

/// Decides the write that closes. It writes nothing if another operation has closed a pool
/// meanwhile; the next attempt sees that and waits.
commit::Decided RangeChange::DecideClose(const std::vector<PoolId>& pools,
                                         const ClosedFence& closed,
                                         const state::Snapshot& snapshot) const {
  for (const PoolId pool : pools) {
    const auto now = FenceOf(parts_.rows, snapshot, pool);
    if (now && now->operation != id_) return Decision{};
  }
  return PutFences(parts_, pools, &closed, snapshot);
}

void RangeChange::Open(const RangeParts& parts, const std::string& id,
                       const std::vector<PoolId>& pools, Again done) {
  commit::Write write{.key = FenceKey(pools.front())};
  write.transform = [&parts, id, pools](const state::Snapshot& snapshot,
                                        const state::ObjectPtr&) -> commit::Decided {
    for (const PoolId pool : pools) {
      const auto now = FenceOf(parts.rows, snapshot, pool);
      if (!now || now->operation != id) return Decision{};
    }
    return PutFences(parts, pools, nullptr, snapshot);
  };
  parts.sequencer.Submit(
      std::move(write), [done = std::move(done)](const base::Result<commit::Written>&) { done(); });
}

/// Bitmaps have one range of each kind, which stays as it is.
std::optional<base::Error> RangeChange::CheckForm(const RangeEdit& edit,
                                                  const state::Snapshot& snapshot,
                                                  Decision& decision) const {
  if (!bootstraps_) {
    auto error = NeedsRecords(*edit.row->kind, edit.name, FormIn(parts_.rows, snapshot).form);
    if (error) return error;
  }
  decision.compares.push_back(
      {.key = kFormKey, .revision = state::RevisionOf(snapshot.Find(kFormKey))});
  return std::nullopt;
}

/// A replica that cannot follow the change would go on giving out values by other rules.
std::optional<base::Error> RangeChange::CheckReplicas(const RangeEdit& edit,
                                                      const RangeEffect& effect) const {
  const bool changes = !effect.pools.empty();
  const bool adds_family =
      changes && effect.after.families.size() >= 2 && parts_.ledger.Families().size() < 2;
  return FindUnable(edit, {.ranges = changes && !bootstraps_, .second_family = adds_family},
                    replicas_);
}

std::optional<std::string> RangeChange::AdviceOn(const RangeEffect& effect) const {
  for (const PoolId pool : effect.pools) {
    auto advice = WithheldAdvice(pool, LedgerView(parts_.ledger).ValuesForServices(pool),
                                 effect.losing[pool], effect.after.rows[pool]);
    if (advice) return advice;
  }
  return std::nullopt;
}

/// Sets the status that the range has once the change is committed, so that a client never reads a
/// spec beside the counts of another one. The status of a ServiceCIDR has no counts.
void RangeChange::SetStatus(const registry::Row& row, const RangeEffect& effect,
                            Value& range) const {
  if (&row == parts_.rows.service_cidrs) return;
  const auto kind =
      &row == parts_.rows.ip_ranges ? alloc::RangeKind::kIpRange : alloc::RangeKind::kNodePortRange;
  const auto state = LedgerView(parts_.ledger)
                         .RangeIn(effect.after, kind, codec::StringAt(range, "metadata", "name"));
  if (!state) return;
  const Value before = range;
  const base::WallTime now = parts_.clock.Now();
  const RangeFault skew = ReplicaSkew(replicas_).About(*state, range, effect.after.families);
  codec::SetAt(range, {"status"}, RangeStatusOf(range, *state, now, {.skew = skew}));
  merge::TrackUpdate({.kind = *row.kind,
                      .subresource = registry::SubresourceOf(registry::Door::kStatus),
                      .manager = registry::kOwnManager,
                      .now = now},
                     before, range);
}

void RangeChange::AddCompanion(const Companion& companion, const RangeEffect& effect,
                               const state::Snapshot& snapshot, Decision& decision) const {
  const registry::Row& row = *companion.row;
  const std::string key = RangeKey(row, companion.name);
  if (companion.goes) {
    decision.deletes.push_back({.key = key, .expected = companion.revision});
    return;
  }
  Value object = companion.object;
  const base::WallTime now = parts_.clock.Now();
  Value before = codec::Object();
  if (companion.revision == 0) {
    codec::SetAt(object, {"metadata", "uid"}, parts_.uuids.Next());
    codec::SetAt(object, {"metadata", "creationTimestamp"}, codec::FormatTime(now));
  } else if (const auto stored = snapshot.Find(key)) {
    before = registry::Registry::Decode(row, *stored).value_or(codec::Object());
  }
  merge::TrackUpdate({.kind = *row.kind, .manager = registry::kOwnManager, .now = now}, before,
                     object);
  SetStatus(row, effect, object);
  decision.puts.push_back({.key = key,
                           .stored = registry::ToStored(row, object),
                           .wire = registry::ToWireText(row, object),
                           .expected = companion.revision});
}

}  // namespace berth::allocation
