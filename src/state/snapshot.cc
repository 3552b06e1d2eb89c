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

/// The first string behind all that begin with `prefix`; empty: there is none.
std::string BehindPrefix(std::string_view prefix) {
  std::string behind(prefix);
  while (!behind.empty() && behind.back() == '\xff') behind.pop_back();
  if (!behind.empty()) behind.back() = static_cast<char>(static_cast<uint8_t>(behind.back()) + 1);
  return behind;
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
  const std::string behind = BehindPrefix(prefix);
  const size_t end = behind.empty() ? Size() : CountBefore(behind);
  const size_t begin = CountBefore(std::max(prefix, from));
  return end - std::min(begin, end);
}

Cursor Snapshot::Seek(std::string prefix, std::string_view from) const {
  Cursor cursor;
  cursor.prefix_ = std::move(prefix);
  const Node* node = root_.get();
  if (node == nullptr) return cursor;
  SoughtKey key(std::max<std::string_view>(cursor.prefix_, from));
  while (!node->leaf) {
    const auto& inner = static_cast<const Inner&>(*node);
    const size_t place = inner.ChildFor(key);
    assert(cursor.depth_ + 1 < Cursor::kMaxDepth);
    cursor.path_[cursor.depth_++] = {.node = node, .place = place};
    node = inner.children[place].get();
  }
  const size_t place = static_cast<const Leaf&>(*node).LowerBound(key);
  cursor.path_[cursor.depth_++] = {.node = node, .place = place};
  cursor.Settle();
  return cursor;
}

void Cursor::Next() {
  ++path_[depth_ - 1].place;
  Settle();
}

/// Goes to the next leaf when this one is used up, and ends where the prefix does.
void Cursor::Settle() {
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
  ObjectPtr previous = Find(key);  // What is not there costs no copies.
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
