// What is to be done about an object, given its owners and its dependents: the rules of garbage
// collection. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "controllers/facts.h"

namespace berth::controllers {

/// An object, and all that its fate depends on.
struct Situation {
  Facts facts = {};
  std::vector<OwnerState> owners = {};  // As facts.owners.
  size_t dependents = 0;                // That name it with its uid,
  size_t blocking = 0;                  // and of these references those that block.
  /// Its going waits for itself, round a circle of objects that are all deleted in the foreground.
  bool in_circle = false;
};

struct Verdict {
  enum class Kind : uint8_t {
    kNothing,
    kDelete,  // As it was asked for before, else in the background.
    kDeleteForeground,
    kDropOwners,  // The references to `owners` go.
    kUnblock,     // None of its references blocks any longer.
    kFinish,      // The finalizer that speaks of its dependents goes.
  };

  Kind kind = Kind::kNothing;
  std::vector<std::string> owners = {};  // Their uids.

  bool operator==(const Verdict&) const = default;
};

Verdict Judge(const Situation& situation);

}  // namespace berth::controllers
