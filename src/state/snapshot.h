// All objects in memory at one revision, in order of their keys as bytes. Gets, lists and decisions
// read a snapshot. A snapshot never changes, so a reader that holds one blocks no writer. Each
// batch of changes publishes the next snapshot, which shares everything with the last one except
// for the changed paths.
//
//   SnapshotPtr now = follower.Current();
//   for (SnapshotIterator at = now->Seek(prefix, from); at.Valid(); at.Next()) Use(at.Get());
//
// Threads: a Snapshot may be read from any thread, and a SnapshotIterator by one thread at a time.
// A SnapshotBuilder belongs to one thread.
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

/// Iterates over the objects of a prefix in order of their keys. The caller must hold the snapshot
/// meanwhile.
class SnapshotIterator {
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
  /// Makes an empty snapshot at revision 0.
  Snapshot() = default;
  Snapshot(index::NodePtr root, uint64_t epoch, int64_t revision)
      : root_(std::move(root)), epoch_(epoch), revision_(revision) {}

  /// Returns the resourceVersion of a list. The snapshot shows all changes up to this revision and
  /// none after it.
  int64_t Revision() const { return revision_; }
  size_t Size() const;

  /// Returns null if no object has this key.
  ObjectPtr Find(std::string_view key) const;

  /// Returns an iterator over the objects whose keys begin with `prefix`. It starts with the first
  /// key that is not before `from`.
  SnapshotIterator Seek(std::string prefix, std::string_view from = {}) const;

  /// Returns how many objects have keys that begin with `prefix` and are not before `from`. This
  /// takes O(log n).
  size_t Count(std::string_view prefix, std::string_view from = {}) const;

 private:
  friend class SnapshotBuilder;

  size_t CountBefore(std::string_view key) const;

  index::NodePtr root_;  // Null if the snapshot is empty.
  uint64_t epoch_ = 0;   // No node has a later epoch.
  int64_t revision_ = 0;
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// Makes the next snapshot from an existing one. It changes nodes that it has made itself in place,
/// and copies all others first. So a batch of changes copies each path once.
class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(const Snapshot& from);
  SnapshotBuilder(const SnapshotBuilder&) = delete;
  SnapshotBuilder& operator=(const SnapshotBuilder&) = delete;
  ~SnapshotBuilder() = default;

  /// Puts the object under its key. Returns the previous object, or null if the key had none.
  ObjectPtr Put(ObjectPtr object);
  /// Returns the removed object, or null if no object has this key.
  ObjectPtr Erase(std::string_view key);
  /// Looks the key up in what was built so far. Returns null if no object has it.
  ObjectPtr Find(std::string_view key) const;

  /// Returns what was built so far as a snapshot. The builder can be used further, for the snapshot
  /// after this one.
  SnapshotPtr Publish(int64_t revision);

 private:
  index::NodePtr root_;
  uint64_t epoch_;  // Epoch of the nodes that no snapshot holds yet.
};

}  // namespace berth::state
