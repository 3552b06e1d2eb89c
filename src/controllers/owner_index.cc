#include "controllers/owner_index.h"

#include <algorithm>
#include <utility>

namespace berth::controllers {
namespace {

/// The most objects that a search for a circle visits.
constexpr size_t kMaxSearched = 1000;

std::string CountsKey(std::string_view owner, std::string_view uid) {
  std::string key;
  key.reserve(owner.size() + 1 + uid.size());
  key.append(owner).append(1, '\n').append(uid);
  return key;
}

}  // namespace

const OwnerIndex::Node* OwnerIndex::Find(std::string_view key) const {
  const auto found = nodes_.find(key);
  return found == nodes_.end() ? nullptr : found->second.get();
}

void OwnerIndex::Attach(const Node& node) {
  for (const Reference& reference : node.facts.owners) {
    if (reference.owner.empty()) continue;
    dependents_[reference.owner].insert(&node);
    Counts& counts = counts_[CountsKey(reference.owner, reference.uid)];
    ++counts.all;
    if (reference.blocking) ++counts.blocking;
  }
}

void OwnerIndex::Detach(const Node& node) {
  for (const Reference& reference : node.facts.owners) {
    if (reference.owner.empty()) continue;
    // The entry is gone already if another of its references has the same owner.
    if (const auto found = dependents_.find(reference.owner); found != dependents_.end()) {
      found->second.erase(&node);
      if (found->second.empty()) dependents_.erase(found);
    }
    const auto found = counts_.find(CountsKey(reference.owner, reference.uid));
    if (reference.blocking) --found->second.blocking;
    if (--found->second.all == 0) counts_.erase(found);
  }
}

void OwnerIndex::Set(std::string_view key, std::optional<Facts> facts, Keys& look) {
  const bool matters = facts && (!facts->owners.empty() || facts->waits != Waits::kNo);
  const auto found = nodes_.find(key);
  if (found == nodes_.end() && !matters) return;
  if (found != nodes_.end() && matters && found->second->facts == *facts) return;
  Facts before;
  if (found != nodes_.end()) {
    Detach(*found->second);
    before = std::move(found->second->facts);
    if (!matters) nodes_.erase(found);
  }
  if (matters) {
    std::unique_ptr<Node>& node = nodes_[key];
    if (node == nullptr) node = std::make_unique<Node>(Node{.key = std::string(key)});
    node->facts = *std::move(facts);
    Attach(*node);
    const Facts& now = node->facts;
    const bool begins_to_wait = now.waits != Waits::kNo && now.waits != before.waits;
    if (begins_to_wait || now.owners != before.owners) look.emplace_back(key);
    if (begins_to_wait) LookAtDependents(key, look);
  }
  LookAtFreed(before.owners, look);
}

void OwnerIndex::Remove(std::string_view key, Keys& look) {
  if (const auto found = nodes_.find(key); found != nodes_.end()) {
    Detach(*found->second);
    const std::vector<Reference> owners = std::move(found->second->facts.owners);
    nodes_.erase(found);
    LookAtFreed(owners, look);
  }
  LookAtDependents(key, look);
}

void OwnerIndex::Clear() {
  nodes_.clear();
  dependents_.clear();
  counts_.clear();
}

void OwnerIndex::LookAtDependents(std::string_view owner, Keys& look) const {
  const auto found = dependents_.find(owner);
  if (found == dependents_.end()) return;
  for (const Node* dependent : found->second) look.push_back(dependent->key);
}

void OwnerIndex::LookAtFreed(const std::vector<Reference>& references, Keys& look) const {
  for (const Reference& reference : references) {
    const Node* owner = WaitingOwner(reference);
    if (owner == nullptr) continue;
    const Counts counts = CountsOf(reference.owner, reference.uid);
    const bool orphan = owner->facts.waits == Waits::kOrphan;
    if ((orphan ? counts.all : counts.blocking) == 0) look.push_back(owner->key);
  }
}

const OwnerIndex::Node* OwnerIndex::WaitingOwner(const Reference& reference) const {
  const Node* owner = Find(reference.owner);
  if (owner == nullptr || owner->facts.waits == Waits::kNo) return nullptr;
  return owner->facts.uid == reference.uid ? owner : nullptr;
}

OwnerIndex::Counts OwnerIndex::CountsOf(std::string_view owner, std::string_view uid) const {
  const auto found = counts_.find(CountsKey(owner, uid));
  return found == counts_.end() ? Counts() : found->second;
}

size_t OwnerIndex::Dependents(std::string_view owner, std::string_view uid) const {
  return CountsOf(owner, uid).all;
}

size_t OwnerIndex::Blocking(std::string_view owner, std::string_view uid) const {
  return CountsOf(owner, uid).blocking;
}

bool OwnerIndex::WaitsForItself(std::string_view key) const {
  const Node* start = Find(key);
  if (start == nullptr || start->facts.waits != Waits::kForeground) return false;
  // Searches upwards, because an object has few owners and may have many dependents.
  Nodes seen;
  std::vector<const Node*> open = {start};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Reference& reference : node->facts.owners) {
      const Node* owner = reference.blocking ? WaitingOwner(reference) : nullptr;
      if (owner == nullptr || owner->facts.waits != Waits::kForeground) continue;
      if (owner == start || seen.size() >= kMaxSearched) return true;
      if (seen.insert(owner).second) open.push_back(owner);
    }
  }
  return false;
}

}  // namespace berth::controllers
