// What the end of an object turns on: who it is, whom it belongs to, and what it waits for. Read
// from the picture, mostly without decoding: an object that belongs to nobody and is not being
// deleted is told by its text.
//
// Threads: immutable once made; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/registry.h"
#include "state/snapshot.h"
#include "state/text_map.h"

namespace berth::controllers {

/// One of an object's ownerReferences.
struct Reference {
  /// The owner's key. Empty: nothing can be said of it, since its kind is not served or is exempt,
  /// or it has a namespace and what it is to own has none, or there can be none of that name.
  std::string owner = {};
  std::string uid = {};
  bool blocking = false;  // The owner's deletion in the foreground waits for this object.

  bool operator==(const Reference&) const = default;
};

/// What an object that is being deleted wants done about its dependents before it goes.
enum class Waits : uint8_t { kNo, kForeground, kOrphan };

struct Facts {
  std::string uid = {};
  std::vector<Reference> owners = {};
  bool deleted = false;  // It has a deletionTimestamp.
  Waits waits = Waits::kNo;

  bool operator==(const Facts&) const = default;
};

/// An owner as one of its dependents sees it.
enum class OwnerState : uint8_t {
  kUnknown,   // It may be there or not.
  kAbsent,    // No such object, or another one of the same name.
  kSolid,     // There, whether it is being deleted or not.
  kWaiting,   // Deleted in the foreground: its dependents go first.
  kOrphaning  // Its dependents are to be let go.
};

/// Valid as long as the object.
std::string UidOf(const state::Object& object);

/// Whether one of the finalizers that speak of dependents may be among its own; the text alone does
/// not tell for sure.
bool MayWaitForDependents(const state::Object& object);

class FactReader {
 public:
  /// All must outlive it. `undecodable`: whether the key holds what the picture cannot show.
  FactReader(const registry::Kinds& kinds, const state::Resources& resources,
             std::function<bool(std::string_view key)> undecodable);

  /// Nothing: it has no owners and is not being deleted, or its kind is exempt.
  std::optional<Facts> Read(const state::Object& object) const;

  OwnerState StateOf(const Reference& reference, const state::Snapshot& snapshot) const;

  registry::Target TargetOf(const state::Object& object) const;

 private:
  Reference ReadReference(const registry::Row& row, const state::Object& object,
                          const codec::Value& reference) const;

  const registry::Kinds& kinds_;
  const state::Resources& resources_;
  const std::function<bool(std::string_view key)> undecodable_;
  state::TextMap<registry::Served> owners_;  // By "v1/Service"; kinds that may own something.
};

}  // namespace berth::controllers
