// POST, PUT and DELETE: turns a request into a write of the registry, and answers with its outcome.
#pragma once

#include "registry/registry.h"
#include "server/call.h"
#include "server/options.h"
#include "server/parts.h"
#include "server/render.h"

namespace berth::server {

void HandleCreate(const Parts& parts, const CallPtr& call);
void HandleUpdate(const Parts& parts, const CallPtr& call);
void HandleDelete(const Parts& parts, const CallPtr& call);
void HandleDeleteCollection(const Parts& parts, const CallPtr& call);

/// Returns the object that a write concerns, and the options that all writes have. Patches use them
/// too.
registry::Target TargetOf(const Route& route);
registry::CommonOptions Common(const Call& call, const WriteOptions& options);
/// Returns a callback that answers with the object as written, or with the deleted object.
registry::Done AnswerObject(const Parts& parts, const CallPtr& call, const ResponseFormat& format);

}  // namespace berth::server
