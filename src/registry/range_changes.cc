#include "registry/range_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "codec/encode.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "merge/managed_fields.h"
#include "registry/allocation_forms.h"
#include "registry/errors.h"
#include "registry/range_blockers.h"
#include "registry/range_facts.h"
#include "registry/registry.h"
#include "registry/withheld.h"

namespace berth::registry {
namespace {

using alloc::PoolId;
using codec::Value;

/// Nobody needs longer from closing a fence to opening it.
constexpr std::chrono::seconds kStaleAfter{10};

constexpr const char* kManager = "berth";

int64_t RevisionOf(const state::ObjectPtr& object) { return object ? object->Revision() : 0; }

std::string KeyOf(const Row& row, std::string_view name) { return row.prefix + std::string(name); }

/// Of a range object what RangeFactsOf reads, the same for each attempt of a change.
std::string WhatCounts(const Row& row, const Value& range) {
  Value reduced = codec::Object();
  codec::CopyAt(reduced, range, {"metadata", "name"});
  codec::CopyAt(reduced, range, {"metadata", "deletionTimestamp"});
  codec::CopyAt(reduced, range, {"spec"});
  if (range.Find("status") != nullptr) codec::CopyAt(reduced, range, {"status", "conditions"});
  return codec::EncodeMessage(reduced, *row.kind->message);
}

/// Whether it says of its values what it said before, as with each write of its status: that is
/// often, and nothing of other ranges need be looked at.
bool IsSameRange(const RangeEdit& edit, const Gates& gates) {
  if (edit.old == nullptr || edit.next == nullptr) return false;
  const Value* before = edit.old->Find("spec");
  const Value* after = edit.next->Find("spec");
  return before != nullptr && after != nullptr && *before == *after &&
         RangeFactsOf(*edit.row, *edit.old, gates) == RangeFactsOf(*edit.row, *edit.next, gates);
}

/// Those that stay.
std::vector<alloc::RangeRow> Lasting(std::vector<alloc::RangeRow> rows) {
  std::erase_if(rows, [](const alloc::RangeRow& row) { return row.leaving; });
  return rows;
}

}  // namespace

class RangeChanges::Operation {
 public:
  explicit Operation(std::string the_id) : id(std::move(the_id)) {}

  const std::string id;
  std::vector<PoolId> closed = {};          // Pools whose fence it has closed.
  std::optional<base::Error> verdict = {};  // It is refused, once these are open again.
  std::optional<std::string> advice = {};   // Of the last attempt.
};

/// What a change comes to.
struct RangeChanges::Effect {
  std::vector<Companion> companions = {};
  std::vector<PoolId> pools = {};    // Whose ranges change.
  std::vector<PoolId> smaller = {};  // Those that would cover less.
  alloc::RangeTable after = {};
  /// By pool: what the objects that change cover now, and what all that stays will cover.
  std::array<std::vector<alloc::RangeRow>, alloc::kPools> losing = {};
  std::array<std::vector<alloc::RangeRow>, alloc::kPools> keeping = {};
  /// Each object that changes, as it shall be.
  std::map<std::string, std::optional<std::string>, std::less<>> objects = {};
};

RangeChanges::RangeChanges(const RecordRows& rows, const Gates& gates, commit::Sequencer& sequencer,
                           commit::Allocations& allocations, const base::Clock& clock,
                           const base::SeededRandom& random)
    : rows_(rows),
      gates_(gates),
      follower_(sequencer.GetFollower()),
      sequencer_(sequencer),
      allocations_(allocations),
      clock_(clock),
      random_(random) {}

std::string RangeChanges::NewUid() {
  base::MutexLock lock(mutex_);
  return base::NewUuid(random_);
}

std::optional<commit::Refusal> RangeChanges::Complete(OperationPtr& operation,
                                                      const RangeEdit& edit, const Options& options,
                                                      commit::Decision& decision) {
  if (edit.row != rows_.service_cidrs && IsSameRange(edit, gates_)) return std::nullopt;
  if (!operation) operation = std::make_shared<Operation>(NewUid());
  if (operation->verdict) return commit::Refusal(*operation->verdict);
  const state::SnapshotPtr picture = follower_.Current();
  const RangeWorld world(rows_, gates_, *picture);
  auto effect = EffectOf(edit, world);
  if (!effect) return commit::Refusal(std::move(effect.error()));
  operation->advice = AdviceOn(*effect);
  if (effect->pools.empty()) return std::nullopt;
  if (auto error = CheckForm(edit, options, *picture, decision)) {
    return commit::Refusal(*std::move(error));
  }
  if (auto error = CheckReplicas(edit, *effect, *picture))
    return commit::Refusal(*std::move(error));
  if (options.dry_run) {
    auto blocked = Blocked(edit, *effect, *picture);
    return blocked ? std::optional<commit::Refusal>(*std::move(blocked)) : std::nullopt;
  }
  if (auto refusal = CloseAndCheck(operation, edit, *effect, options, *picture)) return refusal;
  AddFences(*effect, *picture, decision);
  AddCompanions(*effect, decision);
  return std::nullopt;
}

base::Result<RangeChanges::Effect> RangeChanges::EffectOf(const RangeEdit& edit,
                                                          const RangeWorld& world) const {
  auto companions = world.CompanionsOf(edit);
  if (!companions) return tl::unexpected(companions.error());
  Effect effect{.companions = *std::move(companions)};
  alloc::RangeObjects facts = world.Facts();
  bool addresses = false;
  bool ports = false;
  const auto change = [&](const Row& row, std::string_view name, const Value* next) {
    const std::string key = KeyOf(row, name);
    std::optional<alloc::RangeFacts> now;
    if (next != nullptr) now = RangeFactsOf(row, *next, gates_);
    const auto before = facts.find(key);
    if (before != facts.end() && now && before->second == *now) return;
    (&row == rows_.node_port_ranges ? ports : addresses) = true;
    if (before != facts.end()) {
      for (const auto& part : before->second.parts) {
        effect.losing[static_cast<size_t>(part.pool)].push_back(part.row);
      }
    }
    effect.objects[key] = next == nullptr ? std::nullopt : std::optional(WhatCounts(row, *next));
    if (now) {
      facts[key] = *std::move(now);
    } else {
      facts.erase(key);
    }
  };
  change(*edit.row, edit.name, edit.next);
  for (const Companion& companion : effect.companions) {
    change(*companion.row, companion.name, &companion.object);
  }
  // Which family comes first depends on all ranges of addresses.
  if (addresses) effect.pools = {PoolId::kIpv4, PoolId::kIpv6};
  if (ports) effect.pools.push_back(PoolId::kPorts);
  effect.after = alloc::MakeRangeTable(facts, {});
  for (const PoolId pool : effect.pools) {
    const auto at = static_cast<size_t>(pool);
    effect.keeping[at] = Lasting(effect.after.rows[at]);
    // A ServiceCIDR that is only now going away keeps its values until it is gone.
    for (const alloc::RangeRow& row : effect.after.rows[at]) {
      const bool keeps = row.leaving && row.name == edit.name && !IsGoing(edit, rows_);
      if (keeps) effect.keeping[at].push_back(row);
    }
    if (!alloc::CoversAll(effect.keeping[at], effect.losing[at])) effect.smaller.push_back(pool);
  }
  return effect;
}

/// Bitmaps know one range of each kind, which stays as it is.
std::optional<base::Error> RangeChanges::CheckForm(const RangeEdit& edit, const Options& options,
                                                   const state::Snapshot& picture,
                                                   commit::Decision& decision) const {
  if (!options.in_any_form) {
    auto error = NeedsRecords(*edit.row->kind, edit.name, FormIn(rows_, picture).form);
    if (error) return error;
  }
  decision.compares.push_back({.key = kFormKey, .revision = RevisionOf(picture.Find(kFormKey))});
  return std::nullopt;
}

/// A replica that does not know of dual stack would refuse what others accept.
std::optional<base::Error> RangeChanges::CheckReplicas(const RangeEdit& edit, const Effect& effect,
                                                       const state::Snapshot& picture) const {
  if (effect.after.families.size() < 2 || allocations_.Families().size() >= 2) return std::nullopt;
  for (auto at = picture.Seek(rows_.replicas->prefix); at.Valid(); at.Next()) {
    const auto replica = DecodeWithoutManagedFields(*rows_.replicas, *at.Get());
    if (!replica) continue;
    if (codec::StringAt(*replica, "spec", "gates", "IPv6DualStack") != "false") continue;
    return Forbidden(*edit.row->kind, edit.name,
                     fmt::format("replica \"{}\" runs with IPv6DualStack=false and cannot give out "
                                 "addresses of a second family; start it without that first",
                                 at.Get()->Name()));
  }
  return std::nullopt;
}

std::optional<base::Error> RangeChanges::Blocked(const RangeEdit& edit, const Effect& effect,
                                                 const state::Snapshot& picture) const {
  for (const PoolId pool : effect.smaller) {
    const auto at = static_cast<size_t>(pool);
    const Blockers blockers =
        FindBlockers(rows_, picture, pool, effect.losing[at], effect.keeping[at]);
    if (blockers.total == 0) continue;
    const char* what = pool == PoolId::kPorts ? "ports" : "addresses";
    const std::string held = fmt::format("{} of its {} would be outside of every range: {}",
                                         blockers.total, what, BlockersText(blockers));
    if (IsGoing(edit, rows_)) return Forbidden(*edit.row->kind, edit.name, held);
    rules::FieldErrors errors;
    errors.Invalid(rules::Path("spec.range"), codec::StringAt(*edit.next, "spec", "range"), held);
    return InvalidObject(errors, *edit.row->kind, edit.name);
  }
  return std::nullopt;
}

std::optional<std::string> RangeChanges::AdviceOn(const Effect& effect) const {
  for (const PoolId pool : effect.pools) {
    const auto at = static_cast<size_t>(pool);
    auto advice = WithheldAdvice(pool, allocations_.KeptValues(pool), effect.losing[at],
                                 effect.after.rows[at]);
    if (advice) return advice;
  }
  return std::nullopt;
}

std::optional<std::string> RangeChanges::AdviceOn(const OperationPtr& operation) {
  return operation ? operation->advice : std::nullopt;
}

std::optional<commit::Refusal> RangeChanges::CloseAndCheck(const OperationPtr& operation,
                                                           const RangeEdit& edit,
                                                           const Effect& effect,
                                                           const Options& options,
                                                           const state::Snapshot& picture) {
  const auto not_yet = [&edit](std::function<bool(Again)> wait) {
    return commit::Refusal(
        Conflict(*edit.row->kind, edit.name, "another change of ranges is under way"),
        std::move(wait));
  };
  ClosedFence wanted{.operation = operation->id, .since = clock_.Now(), .objects = effect.objects};
  std::vector<PoolId> to_close;
  for (const PoolId pool : effect.pools) {
    const state::ObjectPtr fence = picture.Find(FenceKey(pool));
    const auto closed = fence ? ReadFence(*rows_.fences, *fence) : std::nullopt;
    if (closed && closed->operation != operation->id) {
      return not_yet([this, pool, seen = RevisionOf(fence)](Again again) {
        return allocations_.AwaitFence(pool, seen, std::move(again));
      });
    }
    // All of its pools: who had closed one of them only and waits for another one could wait for
    // one who does the same the other way round.
    const bool must = !effect.smaller.empty();
    if (must && (!closed || closed->objects != wanted.objects)) to_close.push_back(pool);
  }
  if (!to_close.empty()) {
    return not_yet([this, operation, wanted = std::move(wanted), to_close = std::move(to_close),
                    deadline = options.deadline](Again again) {
      Close(operation, wanted, to_close, deadline, std::move(again));
      return true;
    });
  }
  auto blocked = Blocked(edit, effect, picture);
  if (!blocked) return std::nullopt;
  operation->verdict = *blocked;
  return commit::Refusal(*std::move(blocked), [this, operation](Again again) {
    Open(operation, std::exchange(operation->closed, {}), std::move(again));
    return true;
  });
}

void RangeChanges::AddFences(const Effect& effect, const state::Snapshot& picture,
                             commit::Decision& decision) {
  for (const PoolId pool : effect.pools) {
    decision.compares.push_back(
        {.key = FenceKey(pool), .revision = RevisionOf(picture.Find(FenceKey(pool)))});
    decision.puts.push_back(FencePut(*rows_.fences, pool, nullptr, clock_.Now()));
  }
}

void RangeChanges::AddCompanions(const Effect& effect, commit::Decision& decision) {
  for (const Companion& companion : effect.companions) {
    Value object = companion.object;
    const base::WallTime now = clock_.Now();
    Value before = codec::Object();
    if (companion.revision == 0) {
      codec::SetAt(object, {"metadata", "uid"}, NewUid());
      codec::SetAt(object, {"metadata", "creationTimestamp"}, codec::FormatTime(now));
    } else if (const auto stored =
                   follower_.Current()->Find(KeyOf(*companion.row, companion.name))) {
      before = Registry::Decode(*companion.row, *stored).value_or(codec::Object());
    }
    merge::TrackUpdate({.kind = *companion.row->kind, .manager = kManager, .now = now}, before,
                       object);
    decision.puts.push_back({.key = KeyOf(*companion.row, companion.name),
                             .stored = ToStored(*companion.row, object),
                             .wire = ToWireText(*companion.row, object),
                             .expected = companion.revision});
  }
}

// The fences.

/// In the same order for everybody. The first that is somebody else's ends it: what is closed by
/// then is ahead of that in the order.
void RangeChanges::Close(const OperationPtr& operation, ClosedFence closed,
                         std::vector<PoolId> pools, base::SteadyTime deadline, Again again) {
  if (pools.empty()) return again();
  const PoolId pool = pools.back();
  pools.pop_back();
  commit::Write write{.key = FenceKey(pool), .deadline = deadline};
  write.transform =
      [this, operation, closed,
       pool](const state::ObjectPtr& current) -> tl::expected<commit::Decision, commit::Refusal> {
    const auto now = current ? ReadFence(*rows_.fences, *current) : std::nullopt;
    if (now && now->operation != operation->id) return commit::Decision{};  // Seen afterwards.
    const Value object = FenceObject(pool, &closed, clock_.Now());
    return commit::Decision{.kind = commit::Decision::Kind::kPut,
                            .stored = ToStored(*rows_.fences, object),
                            .wire = ToWireText(*rows_.fences, object)};
  };
  operation->closed.push_back(pool);
  sequencer_.Submit(
      std::move(write),
      [this, operation, closed = std::move(closed), pools = std::move(pools), deadline,
       again = std::move(again)](const base::Result<commit::Written>& written) {
        if (!written) {
          operation->verdict = written.error();
          return again();
        }
        if (written->kind == commit::Written::Kind::kUnchanged) return again();
        Close(operation, closed, pools, deadline, again);
      });
}

void RangeChanges::Open(const OperationPtr& operation, std::vector<PoolId> pools, Again again) {
  if (pools.empty()) return again();
  const PoolId pool = pools.back();
  pools.pop_back();
  commit::Write write{.key = FenceKey(pool)};
  write.transform =
      [this, operation,
       pool](const state::ObjectPtr& current) -> tl::expected<commit::Decision, commit::Refusal> {
    const auto now = current ? ReadFence(*rows_.fences, *current) : std::nullopt;
    if (!now || now->operation != operation->id) return commit::Decision{};
    const Value object = FenceObject(pool, nullptr, clock_.Now());
    return commit::Decision{.kind = commit::Decision::Kind::kPut,
                            .stored = ToStored(*rows_.fences, object),
                            .wire = ToWireText(*rows_.fences, object)};
  };
  sequencer_.Submit(std::move(write),
                    [this, operation, pools = std::move(pools), again = std::move(again)](
                        const base::Result<commit::Written>&) { Open(operation, pools, again); });
}

void RangeChanges::Finish(const OperationPtr& operation) {
  if (!operation || operation->closed.empty()) return;
  Open(operation, std::exchange(operation->closed, {}), [] {});
}

void RangeChanges::OpenIfStale(PoolId pool) {
  const state::ObjectPtr fence = follower_.Current()->Find(FenceKey(pool));
  const auto closed = fence ? ReadFence(*rows_.fences, *fence) : std::nullopt;
  if (!closed) return;
  {
    base::MutexLock lock(mutex_);
    FoundClosed& found = found_closed_[static_cast<size_t>(pool)];
    const base::SteadyTime now = clock_.Steady();
    if (std::exchange(found.revision, fence->Revision()) != fence->Revision()) found.since = now;
    if (now - found.since < kStaleAfter) return;
  }
  Open(std::make_shared<Operation>(closed->operation), {pool}, [] {});
}

}  // namespace berth::registry
