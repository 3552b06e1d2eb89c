// Who belongs to whom: the objects that have owners, by owner, and those that wait for their
// dependents. Told of every change, it says which objects should be looked at because of it.
//
// Only objects with owners, or that wait, take memory.
//
// Threads: used by one at a time. Errors: none.
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
  /// Keys of objects; some may come twice.
  using Keys = std::vector<std::string>;

  /// The object is there, with these facts; nothing: with none that matter. Adds to `look` what may
  /// have to be dealt with.
  void Set(std::string_view key, std::optional<Facts> facts, Keys& look);
  /// It is gone.
  void Remove(std::string_view key, Keys& look);
  void Clear();

  size_t Dependents(std::string_view owner, std::string_view uid) const;
  /// References that block, counted.
  size_t Blocking(std::string_view owner, std::string_view uid) const;

  /// Whether the object is deleted in the foreground and stands, through owners that are so too,
  /// in its own way. A search that gets long is taken for one that finds something: that costs the
  /// order in which objects go, not that they go.
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
  /// Those that need not wait any longer for what the references were of.
  void LookAtFreed(const std::vector<Reference>& references, Keys& look) const;
  const Node* WaitingOwner(const Reference& reference) const;
  Counts CountsOf(std::string_view owner, std::string_view uid) const;

  state::TextMap<std::unique_ptr<Node>> nodes_;
  state::TextMap<Nodes> dependents_;  // By owner's key, whatever the uid.
  state::TextMap<Counts> counts_;     // By owner's key and uid.
};

}  // namespace berth::controllers
