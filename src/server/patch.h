// PATCH: the three kinds of patches and server-side apply, from the request to one write of the
// registry.
#pragma once

#include <optional>

#include "base/error.h"
#include "server/call.h"
#include "server/parts.h"

namespace berth::server {

/// A Content-Type that is no patch. Comes before all else: Kubernetes finds no route for it.
std::optional<base::Error> CheckPatchType(const Call& call);
bool IsApply(const Call& call);

void HandlePatch(const Parts& parts, const CallPtr& call);

}  // namespace berth::server
