// Serves GET of a collection with watch=true: initial events if the client asked for them, then
// every change as it happens, bookmarks, and a clean end.
#pragma once

#include "server/call.h"
#include "server/parts.h"

namespace berth::server {

void HandleWatch(const Parts& parts, const CallPtr& call);

}  // namespace berth::server
