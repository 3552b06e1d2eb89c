#include "allocation/audit/snapshot_pass.h"

#include <utility>

#include "allocation/audit/store_pass.h"

namespace berth::allocation {

audit::Report AuditSnapshot(const registry::Kinds& kinds, const state::Snapshot& snapshot,
                            std::span<const state::Follower::UndecodableKey> undecodable,
                            std::function<void()> pause) {
  return *TryAuditSnapshot(kinds, snapshot, undecodable, [&pause] {
    if (pause) pause();
    return true;
  });
}

std::optional<audit::Report> TryAuditSnapshot(
    const registry::Kinds& kinds, const state::Snapshot& snapshot,
    std::span<const state::Follower::UndecodableKey> undecodable,
    const std::function<bool()>& go_on) {
  bool stopped = false;
  const auto pause = [&stopped, &go_on] { stopped |= !go_on(); };
  StorePass pass(kinds, {.revision = snapshot.Revision(), .pause = pause});
  for (const auto& [key, error] : undecodable) pass.AddUndecodable(key, error);
  for (const registry::Row* row : AuditedRows(kinds)) {
    for (auto at = snapshot.Seek(row->prefix); at.Valid(); at.Next()) {
      pass.Add(*at.Get());
      if (stopped) return std::nullopt;
    }
  }
  audit::Report report = std::move(pass).Finish();
  if (stopped) return std::nullopt;
  return report;
}

}  // namespace berth::allocation
