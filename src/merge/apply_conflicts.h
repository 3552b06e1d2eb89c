// The fields that an apply would take from other managers, and the error
// about them. For use inside merge.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "merge/managers.h"
#include "merge/path_element.h"

namespace berth::merge {

struct Conflict {
  std::string owner;  // As in messages: `"one"`, `"two" using v1`.
  std::vector<PathElement> path;
};

/// Adds one conflict for each member of `fields`, which the manager owns.
void AddConflicts(const Manager& manager, const FieldSet& fields, std::vector<Conflict>& conflicts);

/// Returns a 409 with a cause for each conflict. The conflicts must be grouped by manager.
base::Error ConflictError(const std::vector<Conflict>& conflicts);

}  // namespace berth::merge
