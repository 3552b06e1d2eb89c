// The format of an answer, as the client asked for it.
#pragma once

#include "base/result.h"
#include "registry/registry.h"
#include "server/call.h"
#include "server/render.h"

namespace berth::server {

/// Returns the format that the query and the Accept header ask for. Fails if a collection is asked
/// for as one object, or one object as a collection.
base::Result<ResponseFormat> ResponseFormatOf(const registry::Registry& registry, const Call& call,
                                              bool of_list);

}  // namespace berth::server
