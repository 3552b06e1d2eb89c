// The Endpoints of a Service end with the Service, in its own transaction.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "commit/write.h"
#include "registry/kind_rows.h"
#include "state/snapshot.h"

namespace berth::allocation {

/// Adds the delete of the Endpoints to the deletion of the Service that has the same name.
/// Endpoints with finalizers are marked as deleted instead. Does nothing if they do not exist, or
/// if they cannot be read: that must not keep the Service. `row` is that of Endpoints.
void EndEndpoints(const registry::Row& row, std::string_view name_space, std::string_view name,
                  const state::Snapshot& snapshot, base::WallTime now, commit::Decision& decision);

}  // namespace berth::allocation
