#include "controllers/job_lease.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/kinds.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "state/object.h"

namespace berth::controllers {
namespace {

using allocation::WorkLease;
using codec::Value;

/// How often a server that does not hold the Lease looks at it.
constexpr std::chrono::seconds kLeaseLookEvery{1};

/// Notes a new holder in the Lease, as clients of Leases do.
void NoteHolder(const WorkLease::Progress& progress, std::chrono::nanoseconds lasts, Value& lease) {
  const std::string_view before = codec::StringAt(lease, "spec", "holderIdentity");
  if (before != progress.holder) {
    const int64_t changes = codec::IntAt(lease, "spec", "leaseTransitions");
    codec::SetAt(lease, {"spec", "leaseTransitions"}, before.empty() ? changes : changes + 1);
    codec::SetAt(lease, {"spec", "acquireTime"}, codec::FormatMicroTime(progress.since));
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(lasts).count();
  codec::SetAt(lease, {"spec", "leaseDurationSeconds"}, std::max<int64_t>(seconds, 1));
  WorkLease::Note(progress, lease);
}

}  // namespace

bool IsHeldByAnother(const registry::Registry& registry, const WorkLease& lease,
                     const std::string& id, const state::Snapshot& snapshot) {
  const auto now = lease.In(snapshot);
  if (!now || now->holder.empty() || now->holder == id) return false;
  const registry::Row& replicas = *registry.GetKinds().FindRow(api::kReplicaKind);
  return snapshot.Find(replicas.prefix + now->holder) != nullptr;
}

JobLease::JobLease(const Context& context, const std::string& job, std::string id,
                   std::chrono::nanoseconds lasts)
    : context_(context),
      lease_(context.registry, job),
      id_(std::move(id)),
      lasts_(lasts),
      alone_(id_.empty() || !context.follower.AsksStore()),
      due_(context.clock.Steady()) {}

bool JobLease::IsMine() const {
  return alone_ || (held_ && context_.clock.Steady() < renewed_ + lasts_);
}

base::SteadyTime JobLease::NextDue() const {
  return alone_ || under_way_ ? base::SteadyTime::max() : due_;
}

bool JobLease::Work() {
  const base::SteadyTime now = context_.clock.Steady();
  if (now < NextDue() || !context_.writer.HasRoom()) return false;
  const state::SnapshotPtr snapshot = context_.follower.Current();
  const state::ObjectPtr found = snapshot->Find(lease_.Key());
  if (!IsFree(found, *snapshot, now)) {
    held_ = false;
    due_ = now + kLeaseLookEvery;
    return false;
  }
  Take(found, now);
  return true;
}

bool JobLease::IsFree(const state::ObjectPtr& found, const state::Snapshot& snapshot,
                      base::SteadyTime now) {
  if (const int64_t revision = state::RevisionOf(found); revision != seen_) {
    seen_ = revision;
    seen_at_ = now;
  }
  return now - seen_at_ >= lasts_ || !IsHeldByAnother(context_.registry, lease_, id_, snapshot);
}

/// The write changes nothing if the Lease is no longer the one that was seen.
void JobLease::Take(const state::ObjectPtr& found, base::SteadyTime now) {
  const WorkLease::Progress progress{.since = context_.clock.Now(), .holder = id_};
  const registry::Target target = lease_.Target();
  under_way_ = true;
  const auto took = std::make_shared<bool>(true);
  const auto done = [this, took, now](const base::Result<registry::Outcome>& outcome) {
    under_way_ = false;
    due_ = context_.clock.Steady() + kLeaseLookEvery;
    if (!outcome) return;  // If it was a renewal, IsMine ends in time.
    held_ = *took;
    if (!held_) return;
    renewed_ = now;
    due_ = now + lasts_ / 3;
  };
  if (found == nullptr) {
    Value lease = codec::Object{
        {"metadata", codec::Object{{"name", target.name}, {"namespace", target.name_space}}}};
    NoteHolder(progress, lasts_, lease);
    context_.writer.Create(target, std::move(lease), done);
    return;
  }
  const auto before = registry::DecodeWithoutManagedFields(*target.served.row, *found);
  const Value seen = before ? *before : Value(codec::Object());
  context_.writer.Update(
      target, registry::Door::kMain, std::string(codec::StringAt(seen, "metadata", "uid")),
      [progress, lasts = lasts_, seen, took](Value& lease) {
        *took = codec::Same(lease.Find("spec"), seen.Find("spec"));
        if (*took) NoteHolder(progress, lasts, lease);
      },
      done);
}

}  // namespace berth::controllers
