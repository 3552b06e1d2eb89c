// GET of a collection: at which state, which page of it, in which form.
//
// A list is made from a snapshot, which it holds while it is being sent; nobody waits for it. Only
// a page or a version of the past is read from the store.
#pragma once

#include <functional>
#include <vector>

#include "server/call.h"
#include "server/filter.h"
#include "server/parts.h"
#include "server/render.h"

namespace berth::server {

/// What the query and the Accept header ask for.
base::Result<Form> FormOf(const Call& call, bool of_list);

void HandleList(const Parts& parts, const CallPtr& call);
void HandleGet(const Parts& parts, const CallPtr& call);

/// What a list would show, for deletecollection.
struct Collection {
  ListMeta meta = {};
  std::vector<state::ObjectPtr> objects = {};
};
void CollectObjects(const Parts& parts, const CallPtr& call,
                    std::function<void(base::Result<Collection>)> done);

/// The keys a collection's path names, narrowed to what its selectors leave.
std::string ScopePrefix(const Parts& parts, const Route& route, const Filter& filter);

}  // namespace berth::server
