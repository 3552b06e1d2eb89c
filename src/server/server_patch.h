// PATCH: turns the three kinds of patches and server-side apply into a write of the registry.
#pragma once

#include <optional>

#include "base/error.h"
#include "server/call.h"
#include "server/parts.h"

namespace berth::server {

/// Returns an error if the Content-Type is not that of a patch. This comes before all other checks,
/// because Kubernetes finds no route for such a request.
std::optional<base::Error> CheckPatchType(const Call& call);
bool IsApply(const Call& call);

void HandlePatch(const Parts& parts, const CallPtr& call);

}  // namespace berth::server
