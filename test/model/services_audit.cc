// The auditor in the model test. While only requests change the store, it must find nothing at any
// revision that a server shows.
#include <algorithm>
#include <iterator>

#include "allocation/audit/snapshot_pass.h"
#include "allocation/records.h"
#include "audit/finding.h"
#include "model/services_run.h"

namespace berth::model {
namespace {

/// Returns whether requests alone can make this: users may disable a range, or exclude values from
/// it, while some of its values are reserved.
bool IsFine(const World& world, const audit::Finding& finding) {
  return finding.kind == audit::FindingKind::kLostReservation &&
         !world.cluster->Gives(allocation::RecordName(*finding.value));
}

}  // namespace

/// Returns the newest world of that revision or of an older one.
const World& Run::WorldAt(int64_t revision) const {
  const auto newer = std::ranges::find_if(
      worlds_, [revision](const WorldPtr& world) { return world->revision > revision; });
  return newer == worlds_.begin() ? *worlds_.front() : **std::prev(newer);
}

void Run::Audit() {
  for (const std::unique_ptr<Server>& server : servers_) {
    const state::SnapshotPtr shown = server->Follower().Current();
    if (shown->Revision() <= audited_) continue;
    audited_ = shown->Revision();
    ++seen_.audited;
    const audit::Report report = allocation::AuditSnapshot(shared_.kinds, *shown, {}, {});
    for (const audit::Finding& finding : report.findings) {
      if (finding.may_settle || IsFine(WorldAt(shown->Revision()), finding)) continue;
      return Fail("the auditor has found something: " + finding.message);
    }
  }
}

}  // namespace berth::model
