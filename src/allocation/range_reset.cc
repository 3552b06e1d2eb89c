#include "allocation/range_reset.h"

#include <memory>
#include <utility>

#include "allocation/range_effect.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "merge/managed_fields.h"
#include "registry/deletion.h"
#include "registry/object_errors.h"
#include "registry/registry.h"
#include "rules/service_cidr.h"

namespace berth::allocation {
namespace {

using codec::Value;

/// What all attempts at a reset have in common.
struct Operation {
  const RangeParts& parts;
  RangeReset reset;
  std::shared_ptr<RangeChange> change;
  registry::Target target;
  std::string uid;  // Of the ServiceCIDR, if it is replaced.
  base::WallTime now;
};

/// Returns the ServiceCIDR after the reset: the stored one with other CIDRs, or a new one if the
/// stored one is being deleted.
Value NextCidr(const Operation& operation, const Value& old) {
  const Value wanted = ServiceCidrOf(operation.reset.cidrs);
  Value next = old;
  if (registry::IsBeingDeleted(old)) {
    next = wanted;
    codec::SetAt(next, {"metadata", "uid"}, operation.uid);
    codec::SetAt(next, {"metadata", "creationTimestamp"}, codec::FormatTime(operation.now));
    rules::PrepareServiceCidrCreate(next);
  } else {
    codec::SetAt(next, {"spec", "cidrs"}, codec::ArrayAt(wanted, "spec", "cidrs"));
    rules::PrepareServiceCidrUpdate(next, old);
  }
  rules::SetCidrCondition(next, operation.now);
  merge::TrackUpdate({.kind = *operation.target.served.row->kind,
                      .manager = registry::kOwnManager,
                      .now = operation.now},
                     registry::IsBeingDeleted(old) ? Value(codec::Object()) : old, next);
  return next;
}

commit::Decided DecideReset(const Operation& operation, const state::Snapshot& snapshot,
                            const state::ObjectPtr& current) {
  const registry::Row& row = *operation.target.served.row;
  if (current == nullptr) {
    return tl::unexpected(commit::Refusal(registry::NotFound(*row.kind, operation.target.name)));
  }
  const auto old = registry::Registry::Decode(row, *current);
  if (!old) return tl::unexpected(commit::Refusal(old.error()));
  Value next = NextCidr(operation, *old);
  registry::Draft draft{.object = next, .old = &*old};
  commit::Decision decision{.kind = commit::Decision::Kind::kPut};
  const registry::Attempt attempt{.snapshot = snapshot, .target = operation.target};
  if (auto refusal = operation.change->OnUpdate(attempt, draft, decision)) {
    return tl::unexpected(*std::move(refusal));
  }
  codec::EraseAt(next, {"metadata", "resourceVersion"});
  decision.stored = registry::ToStored(row, next);
  decision.wire = registry::ToWireText(row, next);
  return decision;
}

}  // namespace

void ResetRanges(const RangeParts& parts, const RangeReset& reset, std::string id,
                 commit::Done done) {
  const registry::Row& row = *parts.rows.service_cidrs;
  const auto operation = std::make_shared<Operation>(Operation{
      .parts = parts,
      .reset = reset,
      .change = std::make_shared<RangeChange>(
          parts, registry::CommonOptions{.dry_run = reset.dry_run, .deadline = reset.deadline},
          std::move(id), /*resets=*/true),
      .target = {.served = {.row = &row, .view = row.views.data()},
                 .name = std::string(kDefaultServiceCidr)},
      .uid = parts.uuids.Next(),
      .now = parts.clock.Now()});
  commit::Write write{.key = RangeKey(row, kDefaultServiceCidr),
                      .dry_run = reset.dry_run,
                      .deadline = reset.deadline};
  write.transform = [operation](const state::Snapshot& snapshot, const state::ObjectPtr& current) {
    return DecideReset(*operation, snapshot, current);
  };
  parts.sequencer.Submit(
      std::move(write), [operation, done = std::move(done)](base::Result<commit::Written> written) {
        operation->change->OnAnswer();
        done(std::move(written));
      });
}

}  // namespace berth::allocation
