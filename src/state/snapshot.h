// All objects at one revision, in order of keys (as bytes): what lists, gets and planners read. A
// snapshot never changes; whoever holds one holds its state, and a writer goes on meanwhile. Each
// batch of changes publishes the next one, which shares all but the changed paths with it.
//
//   SnapshotPtr now = follower.Current();
//   for (Cursor at = now->Seek(prefix, from); at.Valid(); at.Next()) Use(at.Get());
//
// Threads: a Snapshot may be read from any thread, a Cursor by one at a time. A SnapshotBuilder
// belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "state/object.h"

namespace berth::state {

namespace index {
struct Node;
using NodePtr = std::shared_ptr<Node>;
}  // namespace index

/// Walks the objects of a prefix in order. Valid while its snapshot is held.
class Cursor {
 public:
  bool Valid() const { return object_ != nullptr; }
  const ObjectPtr& Get() const { return *object_; }
  void Next();

 private:
  friend class Snapshot;

  struct Step {
    const index::Node* node = nullptr;
    size_t place = 0;
  };
  static constexpr size_t kMaxDepth = 16;

  void Settle();

  std::string prefix_;
  std::array<Step, kMaxDepth> path_ = {};
  size_t depth_ = 0;
  const ObjectPtr* object_ = nullptr;
};

class Snapshot {
 public:
  /// Nothing at all, at revision 0.
  Snapshot() = default;
  Snapshot(index::NodePtr root, uint64_t epoch, int64_t revision)
      : root_(std::move(root)), epoch_(epoch), revision_(revision) {}

  /// Everything up to this revision is in it and nothing beyond: the resourceVersion of a list.
  int64_t Revision() const { return revision_; }
  size_t Size() const;

  /// Null if there is none.
  ObjectPtr Find(std::string_view key) const;

  /// The objects whose keys begin with `prefix`, from `from` on (itself included; empty: from the
  /// first).
  Cursor Seek(std::string prefix, std::string_view from = {}) const;

  /// How many objects begin with `prefix` and do not lie before `from`; O(log n).
  size_t Count(std::string_view prefix, std::string_view from = {}) const;

 private:
  friend class SnapshotBuilder;

  size_t CountBefore(std::string_view key) const;

  index::NodePtr root_;  // Null: empty.
  uint64_t epoch_ = 0;   // No node is of a later one.
  int64_t revision_ = 0;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// Makes the next snapshot out of one. Nodes that it has made itself are changed in place, all
/// others are copied first, so a batch copies each path once.
class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(const Snapshot& from);
  SnapshotBuilder(const SnapshotBuilder&) = delete;
  SnapshotBuilder& operator=(const SnapshotBuilder&) = delete;
  ~SnapshotBuilder() = default;

  /// Puts the object under its key; what was there before, or null.
  ObjectPtr Put(ObjectPtr object);
  /// What was there, or null.
  ObjectPtr Erase(std::string_view key);
  /// As built so far; null if there is none.
  ObjectPtr Find(std::string_view key) const;

  /// The builder begins anew on what it has built.
  SnapshotPtr Publish(int64_t revision);

 private:
  index::NodePtr root_;
  uint64_t epoch_;  // Of the nodes that nobody else holds yet.
};

}  // namespace berth::state
