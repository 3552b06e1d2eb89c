// The nodes of the ordered index, and the editor that changes them. The index is a B-tree with the
// objects in its leaves. A node of the editor's epoch belongs to the editor, which changes it in
// place. Any other node belongs to published snapshots, so the editor copies it before a change.
// Internal to state/snapshot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "state/key_prefix.h"
#include "state/object.h"
#include "state/snapshot.h"

namespace berth::state::index {

/// A write copies one node per level. Larger nodes cost more to copy, and smaller ones cost more
/// memory.
inline constexpr size_t kFanout = 32;
/// A node with fewer than kFew entries is joined with a neighbour if both together have at
/// most kJoined.
inline constexpr size_t kFew = kFanout / 4;
inline constexpr size_t kJoined = kFanout * 3 / 4;

/// A key that is looked for in the index. Neighbouring objects have the same prefix, so the prefix
/// is compared once and not with every object. The caller owns the text of the key.
class SoughtKey {
 public:
  explicit SoughtKey(std::string_view key) : key_(key) {}

  /// Compares this key with the object's. Returns a number below 0, 0 or above 0 if this key is
  /// before the object's, equal to it or after it.
  int Compare(const Object& object) {
    if (object.Prefix() != prefix_) {
      const std::string_view prefix = object.Prefix().Text();
      const int order = key_.substr(0, prefix.size()).compare(prefix);
      if (order != 0) return order;
      prefix_ = object.Prefix();
      after_prefix_ = key_.substr(prefix.size());
    }
    return after_prefix_.compare(object.KeyAfterPrefix());
  }

  /// Compares only the first `size` bytes of both keys. The object's key must have that many.
  int CompareBegin(const Object& object, size_t size) {
    const std::string_view prefix = object.Prefix().Text();
    if (size < prefix.size()) return key_.substr(0, size).compare(prefix.substr(0, size));
    if (object.Prefix() != prefix_ && !key_.starts_with(prefix)) return key_.compare(prefix);
    const size_t rest = size - prefix.size();
    return key_.substr(prefix.size(), rest).compare(object.KeyAfterPrefix().substr(0, rest));
  }

  /// Returns the 8 bytes of the key from `at` on, in the form of Inner::heads.
  uint64_t HeadAt(size_t at) const;

 private:
  std::string_view key_;
  KeyPrefix prefix_;  // A prefix that the key is known to begin with.
  std::string_view after_prefix_ = {};
};

struct Node {
  Node(uint64_t made_in, bool is_leaf) : epoch(made_in), leaf(is_leaf) {}

  /// Returns the number of objects below the node.
  uint32_t Count() const;

  uint64_t epoch;
  uint32_t used = 0;
  bool leaf;
};

struct Leaf : Node {
  explicit Leaf(uint64_t made_in) : Node(made_in, true) {}

  /// Returns the first position whose key is not before `key`.
  size_t LowerBound(SoughtKey& key) const;
  /// Returns whether the object at `place`, which LowerBound has returned, has this key.
  bool HasAt(size_t place, SoughtKey& key) const;
  void Insert(size_t place, ObjectPtr object);
  void Remove(size_t place);

  std::array<ObjectPtr, kFanout> objects;
};

struct Inner : Node {
  explicit Inner(uint64_t made_in) : Node(made_in, false) {}

  /// Returns the position of the child in which `key` is or belongs.
  size_t ChildFor(SoughtKey& key) const;
  void Insert(size_t place, NodePtr child);
  void Remove(size_t place);
  /// Updates what is kept about the child at `place`, after the child was changed.
  void Refresh(size_t place);
  /// Updates what is kept about all children together, after several of them were moved.
  void RefreshSums();

  uint32_t total = 0;   // Number of objects below the node.
  uint32_t common = 0;  // All `lowest` keys begin with the same bytes, at least so many.
  /// The next 8 bytes of each of them. Most comparisons need no more than these, and need not read
  /// the object, which is seldom in the cache if the index is large.
  std::array<uint64_t, kFanout> heads = {};
  std::array<uint32_t, kFanout> counts = {};  // Objects below each child.
  std::array<NodePtr, kFanout> children;
  std::array<const Object*, kFanout> lowest = {};  // The first object of each child, which owns it.

 private:
  void Recount();
  /// Updates heads[place], after lowest[place] was set.
  void Rehead(size_t place);
  void ReheadAll();
};

class Editor {
 public:
  explicit Editor(uint64_t epoch) : epoch_(epoch) {}

  /// Puts the object below `node`, which is replaced by a copy if it is not the editor's own. Sets
  /// `previous` to the object that the key had, if any. Returns the new right neighbour if the node
  /// had to be split, else null. `at_end` says that no node comes after `node`.
  NodePtr Put(NodePtr& node, SoughtKey& key, ObjectPtr object, bool at_end, ObjectPtr& previous);

  /// Removes the object with this key, which must exist. May leave the node empty.
  void Erase(NodePtr& node, SoughtKey& key);

 private:
  NodePtr PutInLeaf(Leaf& leaf, SoughtKey& key, ObjectPtr object, bool at_end, ObjectPtr& previous);
  NodePtr PutInInner(Inner& inner, SoughtKey& key, ObjectPtr object, bool at_end,
                     ObjectPtr& previous);
  void JoinIfFew(Inner& inner, size_t place);
  template <typename T>
  T& Own(NodePtr& node);

  const uint64_t epoch_;
};

}  // namespace berth::state::index
