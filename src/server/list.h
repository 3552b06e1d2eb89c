// GET of a collection and of one object.
//
// A list is made from a snapshot, which it holds while it is being sent, so it blocks no writer.
// Only a page or a version of the past is read from the store.
#pragma once

#include <functional>
#include <vector>

#include "server/call.h"
#include "server/filter.h"
#include "server/parts.h"
#include "server/render.h"

namespace berth::server {

void HandleList(const Parts& parts, const CallPtr& call);
void HandleGet(const Parts& parts, const CallPtr& call);

/// The objects that a list would show, for deletecollection.
struct Collection {
  ListMeta meta = {};
  std::vector<state::ObjectPtr> objects = {};
};
void CollectObjects(const Parts& parts, const CallPtr& call,
                    std::function<void(base::Result<Collection>)> done);

/// Returns the prefix of the keys that a collection's path names. A field selector for a namespace
/// narrows it to that namespace.
std::string ScopePrefix(const Parts& parts, const Route& route, const Filter& filter);

}  // namespace berth::server
