// POST, PUT and DELETE: from the request to one write of the registry, and its outcome as answer.
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

/// For every write of one object, patches too.
registry::Target TargetOf(const Route& route);
registry::CommonOptions Common(const Call& call, const WriteOptions& options);
/// Answers with the object a write left behind, or what a delete took away.
registry::Done AnswerObject(const Parts& parts, const CallPtr& call, const Form& form);

}  // namespace berth::server
