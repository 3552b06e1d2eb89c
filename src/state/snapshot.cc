#include "state/snapshot.h"

#include <algorithm>
#include <cassert>

#include "state/index_node.h"

namespace berth::state {
namespace {

using index::Inner;
using index::Leaf;
using index::Node;
using index::SoughtKey;

/// Returns the first string after all those that begin with `prefix`. Returns an empty string if no
/// string comes after them.
std::string EndOfPrefix(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<uint8_t>(end.back()) + 1);
  return end;
}

ObjectPtr FindIn(const Node* node, std::string_view key) {
  if (node == nullptr) return nullptr;
  SoughtKey sought(key);
  while (!node->leaf) {
    const auto& inner = static_cast<const Inner&>(*node);
    node = inner.children[inner.ChildFor(sought)].get();
  }
  const auto& leaf = static_cast<const Leaf&>(*node);
  const size_t place = leaf.LowerBound(sought);
  return leaf.HasAt(place, sought) ? leaf.objects[place] : nullptr;
}

}  // namespace

size_t Snapshot::Size() const { return root_ ? root_->Count() : 0; }

ObjectPtr Snapshot::Find(std::string_view key) const { return FindIn(root_.get(), key); }

size_t Snapshot::CountBefore(std::string_view key) const {
  size_t before = 0;
  const Node* node = root_.get();
  if (node == nullptr) return 0;
  SoughtKey sought(key);
  while (!node->leaf) {
    const auto& inner = static_cast<const Inner&>(*node);
    const size_t place = inner.ChildFor(sought);
    for (size_t i = 0; i < place; ++i) before += inner.counts[i];
    node = inner.children[place].get();
  }
  return before + static_cast<const Leaf&>(*node).LowerBound(sought);
}

size_t Snapshot::Count(std::string_view prefix, std::string_view from) const {
  const std::string end_key = EndOfPrefix(prefix);
  const size_t end = end_key.empty() ? Size() : CountBefore(end_key);
  const size_t begin = CountBefore(std::max(prefix, from));
  return end - std::min(begin, end);
}

SnapshotIterator Snapshot::Seek(std::string prefix, std::string_view from) const {
  SnapshotIterator iterator;
  iterator.prefix_ = std::move(prefix);
  const Node* node = root_.get();
  if (node == nullptr) return iterator;
  SoughtKey key(std::max<std::string_view>(iterator.prefix_, from));
  while (!node->leaf) {
    const auto& inner = static_cast<const Inner&>(*node);
    const size_t place = inner.ChildFor(key);
    assert(iterator.depth_ + 1 < SnapshotIterator::kMaxDepth);
    iterator.path_[iterator.depth_++] = {.node = node, .place = place};
    node = inner.children[place].get();
  }
  const size_t place = static_cast<const Leaf&>(*node).LowerBound(key);
  iterator.path_[iterator.depth_++] = {.node = node, .place = place};
  iterator.Settle();
  return iterator;
}

void SnapshotIterator::Next() {
  ++path_[depth_ - 1].place;
  Settle();
}

/// Moves to the next leaf if this one has no more objects, and ends the iteration after the last
/// object with the prefix.
void SnapshotIterator::Settle() {
  object_ = nullptr;
  while (path_[depth_ - 1].place == path_[depth_ - 1].node->used) {
    if (--depth_ == 0) return;
    ++path_[depth_ - 1].place;
  }
  while (!path_[depth_ - 1].node->leaf) {
    const Step& step = path_[depth_ - 1];
    const Node* child = static_cast<const Inner&>(*step.node).children[step.place].get();
    path_[depth_++] = {.node = child, .place = 0};
  }
  const Step& step = path_[depth_ - 1];
  const ObjectPtr& object = static_cast<const Leaf&>(*step.node).objects[step.place];
  if (object->KeyStartsWith(prefix_)) object_ = &object;
}

SnapshotBuilder::SnapshotBuilder(const Snapshot& from)
    : root_(from.root_), epoch_(from.epoch_ + 1) {}

ObjectPtr SnapshotBuilder::Find(std::string_view key) const { return FindIn(root_.get(), key); }

ObjectPtr SnapshotBuilder::Put(ObjectPtr object) {
  if (!root_) root_ = std::make_shared<Leaf>(epoch_);
  ObjectPtr previous;
  index::Editor editor(epoch_);
  const std::string text = object->Key();
  SoughtKey key(text);
  if (index::NodePtr right = editor.Put(root_, key, std::move(object), /*at_end=*/true, previous)) {
    auto top = std::make_shared<Inner>(epoch_);
    top->Insert(0, std::move(root_));
    top->Insert(1, std::move(right));
    root_ = std::move(top);
  }
  return previous;
}

ObjectPtr SnapshotBuilder::Erase(std::string_view key) {
  ObjectPtr previous = Find(key);  // Without this, a missing key would cost copies.
  if (!previous) return previous;
  SoughtKey sought(key);
  index::Editor(epoch_).Erase(root_, sought);
  while (root_ && !root_->leaf && root_->used == 1) {
    index::NodePtr only = static_cast<const Inner&>(*root_).children[0];
    root_ = std::move(only);
  }
  if (root_->used == 0) root_.reset();
  return previous;
}

SnapshotPtr SnapshotBuilder::Publish(int64_t revision) {
  auto snapshot = std::make_shared<const Snapshot>(root_, epoch_, revision);
  ++epoch_;
  return snapshot;
}

}  // namespace berth::state
