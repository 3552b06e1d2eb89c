// The nodes of the ordered index, a B-tree with the objects in its leaves, and how they are edited.
// A node of the editor's epoch is its own and is changed in place; any other belongs to published
// snapshots and is copied before it is changed. Internal to state/snapshot.
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

/// A write copies one node per level: larger ones cost more to copy, smaller ones more memory.
inline constexpr size_t kFanout = 32;
/// A node with fewer entries is joined with a neighbour if both fit well into one.
inline constexpr size_t kFew = kFanout / 4;
inline constexpr size_t kJoined = kFanout * 3 / 4;

/// A key on its way through the index. Neighbours begin with the same prefix, so that it is
/// compared once and not with every object. The key itself is another's.
class SoughtKey {
 public:
  explicit SoughtKey(std::string_view key) : key_(key) {}

  /// The object's key is before it, the same or behind it: above 0, 0 or below.
  int Compare(const Object& object) {
    if (object.Prefix() != prefix_) {
      const std::string_view prefix = object.Prefix().Text();
      const int order = key_.substr(0, prefix.size()).compare(prefix);
      if (order != 0) return order;
      prefix_ = object.Prefix();
      behind_prefix_ = key_.substr(prefix.size());
    }
    return behind_prefix_.compare(object.KeyBehindPrefix());
  }

  /// The same for the first `size` bytes of both; the object's key has as many.
  int CompareBegin(const Object& object, size_t size) {
    const std::string_view prefix = object.Prefix().Text();
    if (size < prefix.size()) return key_.substr(0, size).compare(prefix.substr(0, size));
    if (object.Prefix() != prefix_ && !key_.starts_with(prefix)) return key_.compare(prefix);
    const size_t behind = size - prefix.size();
    return key_.substr(prefix.size(), behind).compare(object.KeyBehindPrefix().substr(0, behind));
  }

  /// As Inner::heads has it.
  uint64_t HeadAt(size_t at) const;

 private:
  std::string_view key_;
  KeyPrefix prefix_;  // It is known to begin with.
  std::string_view behind_prefix_ = {};
};

struct Node {
  Node(uint64_t made_in, bool is_leaf) : epoch(made_in), leaf(is_leaf) {}

  /// Objects below it.
  uint32_t Count() const;

  uint64_t epoch;
  uint32_t used = 0;
  bool leaf;
};

struct Leaf : Node {
  explicit Leaf(uint64_t made_in) : Node(made_in, true) {}

  /// The first place whose key is not before `key`.
  size_t LowerBound(SoughtKey& key) const;
  /// Whether what LowerBound has found is there.
  bool HasAt(size_t place, SoughtKey& key) const;
  void Insert(size_t place, ObjectPtr object);
  void Remove(size_t place);

  std::array<ObjectPtr, kFanout> objects;
};

struct Inner : Node {
  explicit Inner(uint64_t made_in) : Node(made_in, false) {}

  /// The child whose keys `key` belongs to.
  size_t ChildFor(SoughtKey& key) const;
  void Insert(size_t place, NodePtr child);
  void Remove(size_t place);
  /// After the child at `place` was changed.
  void Refresh(size_t place);
  /// After many were.
  void RefreshSums();

  uint32_t total = 0;   // Objects below it.
  uint32_t common = 0;  // Bytes that all `lowest` keys begin with, as far as it is known.
  /// The next 8 bytes of each, so that most comparisons are made without going to the object, which
  /// in a large index is seldom in the cache.
  std::array<uint64_t, kFanout> heads = {};
  std::array<uint32_t, kFanout> counts = {};  // And below each child.
  std::array<NodePtr, kFanout> children;
  std::array<const Object*, kFanout> lowest = {};  // The first below each child, which holds it.

 private:
  void Recount();
  /// After lowest[place] was set.
  void Rehead(size_t place);
  void ReheadAll();
};

class Editor {
 public:
  explicit Editor(uint64_t epoch) : epoch_(epoch) {}

  /// Puts it below `node`, which is replaced by a copy if need be. Returns the new right neighbour
  /// if the node had to be split. `at_end`: nothing lies behind `node`.
  NodePtr Put(NodePtr& node, SoughtKey& key, ObjectPtr object, bool at_end, ObjectPtr& previous);

  /// The key must be there. May leave the node empty.
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
