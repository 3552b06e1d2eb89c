// The objects that have owners, by owner, and the objects that wait for their dependents. The index
// is notified of every change and returns which objects should be examined because of it.
//
// Only objects that have owners or that wait take memory.
//
// Threads: one at a time. Errors: none.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/facts.h"
#include "state/text_map.h"

namespace berth::controllers {

class OwnerIndex {
 public:
  /// Keys of objects. A key may occur twice.
  using Keys = std::vector<std::string>;

  /// Sets the facts of an existing object, or nullopt if it has none that matter. Adds to `look`
  /// the objects that should be examined.
  void Set(std::string_view key, std::optional<Facts> facts, Keys& look);
  /// Removes an object that no longer exists.
  void Remove(std::string_view key, Keys& look);
  void Clear();

  size_t Dependents(std::string_view owner, std::string_view uid) const;
  /// Returns the number of references that block.
  size_t Blocking(std::string_view owner, std::string_view uid) const;

  /// Returns whether the object is deleted in the foreground and blocks itself, through owners that
  /// are deleted in the foreground too. A search that gets long counts as found. That only changes
  /// the order of deletions, not whether they happen.
  bool WaitsForItself(std::string_view key) const;

  size_t Size() const { return nodes_.size(); }

 private:
  struct Node {
    std::string key = {};
    Facts facts = {};
  };
  /// References to one owner.
  struct Counts {
    size_t all = 0;
    size_t blocking = 0;
  };
  using Nodes = absl::flat_hash_set<const Node*>;

  const Node* Find(std::string_view key) const;
  void Attach(const Node& node);
  void Detach(const Node& node);
  void LookAtDependents(std::string_view owner, Keys& look) const;
  /// Adds the owners of the references that need not wait any longer.
  void LookAtFreed(const std::vector<Reference>& references, Keys& look) const;
  const Node* WaitingOwner(const Reference& reference) const;
  Counts CountsOf(std::string_view owner, std::string_view uid) const;

  state::TextMap<std::unique_ptr<Node>> nodes_;
  state::TextMap<Nodes> dependents_;  // By the owner's key, for all uids.
  state::TextMap<Counts> counts_;     // By the owner's key and uid.
};

}  // namespace berth::controllers
