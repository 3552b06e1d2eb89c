// What to do about an object, given its owners and its dependents: the rules of garbage collection.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "controllers/facts.h"

namespace berth::controllers {

/// An object, and everything that its verdict depends on.
struct Situation {
  Facts facts = {};
  std::vector<OwnerState> owners = {};  // In the order of facts.owners.
  size_t dependents = 0;                // References to the object, with its uid.
  size_t blocking = 0;                  // Those of them that block.
  /// It waits for itself, in a circle of objects that are all deleted in the foreground.
  bool in_circle = false;
};

struct Verdict {
  enum class Kind : uint8_t {
    kNothing,
    kDelete,  // With the propagation that was asked for before, or else in the background.
    kDeleteForeground,
    kDropOwners,  // Remove the references to `owners`.
    kUnblock,     // Make none of its references block any longer.
    kFinish,      // Remove the finalizer about its dependents.
  };

  Kind kind = Kind::kNothing;
  std::vector<std::string> owners = {};  // Uids of owners.

  bool operator==(const Verdict&) const = default;
};

Verdict Judge(const Situation& situation);

}  // namespace berth::controllers
