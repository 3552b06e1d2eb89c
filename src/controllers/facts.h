// What the deletion of an object depends on: its identity, its owners, and what it waits for. Read
// from the snapshot, mostly without decoding: the text alone shows that an object has no owners and
// is not being deleted.
//
// Immutable once made. Threads: any.
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
  /// The owner's key. Empty if nothing is known about the owner: its kind is not served or is
  /// exempt, or it is namespaced and its dependent is not, or no object can have its name.
  std::string owner = {};
  std::string uid = {};
  bool blocking = false;  // The owner's deletion in the foreground waits for this object.

  bool operator==(const Reference&) const = default;
};

/// What an object that is being deleted waits for: the end of its dependents, or the removal of
/// their references.
enum class Waits : uint8_t { kNo, kForeground, kOrphan };

struct Facts {
  std::string uid = {};
  std::vector<Reference> owners = {};
  bool deleted = false;  // It has a deletionTimestamp.
  Waits waits = Waits::kNo;

  bool operator==(const Facts&) const = default;
};

/// The state of an owner from the view of one of its dependents.
enum class OwnerState : uint8_t {
  kUnknown,   // It may or may not exist.
  kAbsent,    // It does not exist, or another object has its name.
  kSolid,     // It exists, whether it is being deleted or not.
  kWaiting,   // It is deleted in the foreground: its dependents are deleted first.
  kOrphaning  // Its dependents are to lose their references to it.
};

/// Returns the uid of an object of the snapshot.
std::string UidOf(const state::Object& object);

/// Returns false if the object certainly has no finalizer about dependents. It looks at the text
/// without decoding it, so true means only that it may have one.
bool MayWaitForDependents(const state::Object& object);

class FactReader {
 public:
  /// All must outlive it. `undecodable` returns whether the store has an object at the key that
  /// could not be decoded.
  FactReader(const registry::Kinds& kinds, const state::Resources& resources,
             std::function<bool(std::string_view key)> undecodable);

  /// Returns nullopt if the object has no owners and is not being deleted, or if its kind is
  /// exempt.
  std::optional<Facts> Read(const state::Object& object) const;

  OwnerState StateOf(const Reference& reference, const state::Snapshot& snapshot) const;

  registry::Target TargetOf(const state::Object& object) const;

 private:
  Reference ReadReference(const registry::Row& row, const state::Object& object,
                          const codec::Value& reference) const;

  const registry::Kinds& kinds_;
  const state::Resources& resources_;
  const std::function<bool(std::string_view key)> undecodable_;
  state::TextMap<registry::Served> owners_;  // By "v1/Service", for kinds that may own objects.
};

}  // namespace berth::controllers
