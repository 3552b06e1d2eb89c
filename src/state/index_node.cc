#include "state/index_node.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace berth::state::index {
namespace {

template <typename Items, typename Item>
void InsertAt(Items& items, size_t used, size_t place, Item item) {
  const auto at = items.begin() + static_cast<ptrdiff_t>(place);
  const auto end = items.begin() + static_cast<ptrdiff_t>(used);
  std::move_backward(at, end, end + 1);
  *at = std::move(item);
}

template <typename Items>
void RemoveAt(Items& items, size_t used, size_t place) {
  const auto at = items.begin() + static_cast<ptrdiff_t>(place);
  const auto end = items.begin() + static_cast<ptrdiff_t>(used);
  std::move(at + 1, end, at);
  *(end - 1) = {};
}

const Object* Lowest(const Node& node) {
  if (!node.leaf) return static_cast<const Inner&>(node).lowest[0];
  return static_cast<const Leaf&>(node).objects[0].get();
}

/// Returns the first 8 bytes of a text as a number, so that numbers compare as texts do. Bytes that
/// a shorter text lacks count as 0.
uint64_t HeadOf(std::string_view text) {
  uint64_t head = 0;
  std::memcpy(&head, text.data(), std::min(text.size(), sizeof head));
  return std::endian::native == std::endian::little ? __builtin_bswap64(head) : head;
}

uint64_t HeadOf(const Object& object, size_t at) {
  const std::string_view prefix = object.Prefix().Text();
  if (at >= prefix.size()) return HeadOf(object.KeyAfterPrefix().substr(at - prefix.size()));
  return HeadOf(object.Key().substr(at));
}

size_t CommonSize(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// Returns the length of the longest text that both keys begin with.
size_t CommonSize(const Object& a, const Object& b) {
  if (a.Prefix() != b.Prefix()) return CommonSize(a.Key(), b.Key());
  return a.Prefix().Text().size() + CommonSize(a.KeyAfterPrefix(), b.KeyAfterPrefix());
}

/// Moves the entries from `from` on to the end of `to`. The editor must own both nodes.
void MoveFrom(Leaf& node, size_t from, Leaf& to) {
  for (size_t i = from; i < node.used; ++i) to.objects[to.used++] = std::move(node.objects[i]);
  node.used = static_cast<uint32_t>(from);
}

void MoveFrom(Inner& node, size_t from, Inner& to) {
  for (size_t i = from; i < node.used; ++i) {
    to.lowest[to.used] = node.lowest[i];
    to.counts[to.used] = node.counts[i];
    to.children[to.used++] = std::move(node.children[i]);
  }
  node.used = static_cast<uint32_t>(from);
  node.RefreshSums();
  to.RefreshSums();
}

/// Adds an entry to a node. If the node is full, its upper half becomes a new node, which is
/// returned. But an entry at the very end of the index then becomes a new node alone, so that keys
/// that are added in order leave full nodes. Returns null if the node had room.
template <typename T, typename Item>
NodePtr InsertOrSplit(T& node, size_t place, Item item, bool at_end, uint64_t epoch) {
  if (node.used < kFanout) {
    node.Insert(place, std::move(item));
    return nullptr;
  }
  auto right = std::make_shared<T>(epoch);
  const size_t keep = at_end && place == kFanout ? kFanout : kFanout / 2;
  MoveFrom(node, keep, *right);
  if (place > keep || keep == kFanout) {
    right->Insert(place - keep, std::move(item));
  } else {
    node.Insert(place, std::move(item));
  }
  return right;
}

}  // namespace

uint32_t Node::Count() const { return leaf ? used : static_cast<const Inner&>(*this).total; }

size_t Leaf::LowerBound(SoughtKey& key) const {
  const auto found =
      std::partition_point(objects.begin(), objects.begin() + used,
                           [&key](const ObjectPtr& object) { return key.Compare(*object) > 0; });
  return static_cast<size_t>(found - objects.begin());
}

bool Leaf::HasAt(size_t place, SoughtKey& key) const {
  return place < used && key.Compare(*objects[place]) == 0;
}

void Leaf::Insert(size_t place, ObjectPtr object) {
  InsertAt(objects, used, place, std::move(object));
  ++used;
}

void Leaf::Remove(size_t place) {
  RemoveAt(objects, used, place);
  --used;
}

uint64_t SoughtKey::HeadAt(size_t at) const { return HeadOf(key_.substr(at)); }

size_t Inner::ChildFor(SoughtKey& key) const {
  const int order = key.CompareBegin(*lowest[0], common);
  if (order != 0) return order < 0 ? 0 : used - 1;
  const uint64_t head = key.HeadAt(common);
  const auto same = std::equal_range(heads.begin(), heads.begin() + used, head);
  const auto place = [this](auto at) { return lowest.begin() + (at - heads.begin()); };
  const auto after =
      std::partition_point(place(same.first), place(same.second),
                           [&key](const Object* object) { return key.Compare(*object) >= 0; });
  return after == lowest.begin() ? 0 : static_cast<size_t>(after - lowest.begin()) - 1;
}

void Inner::Insert(size_t place, NodePtr child) {
  InsertAt(lowest, used, place, Lowest(*child));
  InsertAt(heads, used, place, uint64_t{0});
  InsertAt(counts, used, place, child->Count());
  InsertAt(children, used, place, std::move(child));
  ++used;
  Rehead(place);
  Recount();
}

void Inner::Remove(size_t place) {
  RemoveAt(lowest, used, place);
  RemoveAt(heads, used, place);
  RemoveAt(counts, used, place);
  RemoveAt(children, used, place);
  --used;
  Recount();
}

void Inner::Refresh(size_t place) {
  const Object* first = Lowest(*children[place]);
  if (std::exchange(lowest[place], first) != first) Rehead(place);
  counts[place] = children[place]->Count();
  Recount();
}

void Inner::RefreshSums() {
  ReheadAll();
  Recount();
}

void Inner::Recount() {
  total = std::accumulate(counts.begin(), counts.begin() + used, uint32_t{0});
}

void Inner::Rehead(size_t place) {
  const Object& neighbour = *lowest[place == 0 ? used - 1 : 0];
  if (used == 1 || CommonSize(*lowest[place], neighbour) < common) {
    ReheadAll();
  } else {
    heads[place] = HeadOf(*lowest[place], common);
  }
}

void Inner::ReheadAll() {
  if (used == 0) return;
  common = static_cast<uint32_t>(CommonSize(*lowest[0], *lowest[used - 1]));
  for (size_t i = 0; i < used; ++i) heads[i] = HeadOf(*lowest[i], common);
}

template <typename T>
T& Editor::Own(NodePtr& node) {
  if (node->epoch != epoch_) {
    auto copy = std::make_shared<T>(static_cast<const T&>(*node));
    copy->epoch = epoch_;
    node = std::move(copy);
  }
  return static_cast<T&>(*node);
}

NodePtr Editor::Put(NodePtr& node, SoughtKey& key, ObjectPtr object, bool at_end,
                    ObjectPtr& previous) {
  if (node->leaf) return PutInLeaf(Own<Leaf>(node), key, std::move(object), at_end, previous);
  return PutInInner(Own<Inner>(node), key, std::move(object), at_end, previous);
}

NodePtr Editor::PutInLeaf(Leaf& leaf, SoughtKey& key, ObjectPtr object, bool at_end,
                          ObjectPtr& previous) {
  const size_t place = leaf.LowerBound(key);
  if (leaf.HasAt(place, key)) {
    previous = std::exchange(leaf.objects[place], std::move(object));
    return nullptr;
  }
  return InsertOrSplit(leaf, place, std::move(object), at_end, epoch_);
}

NodePtr Editor::PutInInner(Inner& inner, SoughtKey& key, ObjectPtr object, bool at_end,
                           ObjectPtr& previous) {
  const size_t place = inner.ChildFor(key);
  const bool last = at_end && place + 1 == inner.used;
  NodePtr right = Put(inner.children[place], key, std::move(object), last, previous);
  inner.Refresh(place);
  if (!right) return nullptr;
  return InsertOrSplit(inner, place + 1, std::move(right), at_end, epoch_);
}

void Editor::Erase(NodePtr& node, SoughtKey& key) {
  if (node->leaf) {
    auto& leaf = Own<Leaf>(node);
    leaf.Remove(leaf.LowerBound(key));
    return;
  }
  auto& inner = Own<Inner>(node);
  const size_t place = inner.ChildFor(key);
  Erase(inner.children[place], key);
  if (inner.children[place]->used == 0) {
    inner.Remove(place);
    return;
  }
  inner.Refresh(place);
  JoinIfFew(inner, place);
}

void Editor::JoinIfFew(Inner& inner, size_t place) {
  if (inner.children[place]->used >= kFew || inner.used < 2) return;
  const size_t left = place == 0 ? 0 : place - 1;
  NodePtr& into = inner.children[left];
  NodePtr& from = inner.children[left + 1];
  if (into->used + from->used > kJoined) return;
  if (into->leaf) {
    MoveFrom(Own<Leaf>(from), 0, Own<Leaf>(into));
  } else {
    MoveFrom(Own<Inner>(from), 0, Own<Inner>(into));
  }
  inner.Remove(left + 1);
  inner.Refresh(left);
}

}  // namespace berth::state::index
