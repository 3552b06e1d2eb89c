// POST, PUT and DELETE: from the request to one write of the registry, and its outcome as answer.
#pragma once

#include "server/call.h"
#include "server/parts.h"

namespace berth::server {

void HandleCreate(const Parts& parts, const CallPtr& call);
void HandleUpdate(const Parts& parts, const CallPtr& call);
void HandleDelete(const Parts& parts, const CallPtr& call);
void HandleDeleteCollection(const Parts& parts, const CallPtr& call);

}  // namespace berth::server
