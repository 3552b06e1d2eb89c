// One pass of the auditor over a snapshot of the running server. It takes no lock. The snapshot
// stays in memory until the pass ends.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "audit/finding.h"
#include "registry/kind_rows.h"
#include "state/follower.h"
#include "state/snapshot.h"

namespace berth::allocation {

/// Checks everything that the snapshot says about addresses and ports. `undecodable` are the keys
/// that Follower::Undecodable names. `pause` is called every few milliseconds of work, so that a
/// caller can spread the work out; it may be empty.
audit::Report AuditSnapshot(const registry::Kinds& kinds, const state::Snapshot& snapshot,
                            std::span<const state::Follower::UndecodableKey> undecodable,
                            std::function<void()> pause);

/// Does the same, and asks often whether to go on. Returns nullopt if `go_on` has returned false.
std::optional<audit::Report> TryAuditSnapshot(
    const registry::Kinds& kinds, const state::Snapshot& snapshot,
    std::span<const state::Follower::UndecodableKey> undecodable,
    const std::function<bool()>& go_on);

}  // namespace berth::allocation
