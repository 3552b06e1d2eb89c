#include "merge/field_set.h"

#include <algorithm>

namespace berth::merge {
namespace {

using Entry = FieldSet::Entry;
using Level = FieldSet::Level;

enum class SetOperation : uint8_t { kUnion, kIntersection, kDifference, kRecursiveDifference };

class Combiner {
 public:
  explicit Combiner(SetOperation operation) : operation_(operation) {}

  FieldSet Run(Level a, Level b) {
    builder_.Reserve(operation_ == SetOperation::kUnion ? std::max(a.size(), b.size()) : a.size());
    Levels(a, b);
    return builder_.Finish();
  }

 private:
  void Levels(Level a, Level b) {
    while (!a.empty() && !b.empty()) {
      const auto order = First(a).element <=> First(b).element;
      if (order < 0) {
        OnlyInA(First(a));
        a = Rest(a);
      } else if (order > 0) {
        OnlyInB(First(b));
        b = Rest(b);
      } else {
        InBoth(First(a), First(b));
        a = Rest(a);
        b = Rest(b);
      }
    }
    if (operation_ != SetOperation::kIntersection) builder_.Copy(a);
    if (operation_ == SetOperation::kUnion) builder_.Copy(b);
  }

  void OnlyInA(const Entry& entry) {
    if (operation_ != SetOperation::kIntersection) builder_.Copy(entry);
  }

  void OnlyInB(const Entry& entry) {
    if (operation_ == SetOperation::kUnion) builder_.Copy(entry);
  }

  void InBoth(const Entry& a, const Entry& b) {
    if (operation_ == SetOperation::kRecursiveDifference && b.member) return;
    builder_.Open(a.element);
    if (IsMember(a.member, b.member)) builder_.Mark();
    Levels(a.Below(), b.Below());
    builder_.Close();
  }

  bool IsMember(bool in_a, bool in_b) const {
    switch (operation_) {
      case SetOperation::kUnion:
        return in_a || in_b;
      case SetOperation::kIntersection:
        return in_a && in_b;
      case SetOperation::kDifference:
      case SetOperation::kRecursiveDifference:
        break;
    }
    return in_a && !in_b;
  }

  const SetOperation operation_;
  FieldSetBuilder builder_;
};

// Picks the members of a set that are in an index, or those that are not.
class Picker {
 public:
  Picker(const FieldIndex& index, bool inside) : index_(index), inside_(inside) {}

  FieldSet Run(const FieldSet& set) {
    Pick(set.Entries(), index_.Top());
    return builder_.Finish();
  }

  bool FindsAny(Level level, FieldIndex::Level found) const {
    if (found.empty()) return false;
    for (; !level.empty(); level = Rest(level)) {
      const Entry& entry = First(level);
      const Entry* same = FieldIndex::Find(found, entry.element);
      if (same == nullptr) continue;
      if ((entry.member && same->member) || FindsAny(entry.Below(), index_.Below(*same))) {
        return true;
      }
    }
    return false;
  }

 private:
  void Pick(Level level, FieldIndex::Level found) {
    for (; !level.empty(); level = Rest(level)) {
      const Entry& entry = First(level);
      const Entry* same = FieldIndex::Find(found, entry.element);
      if (same == nullptr) {
        if (!inside_) builder_.Copy(entry);
        continue;
      }
      builder_.Open(entry.element);
      if (entry.member && same->member == inside_) builder_.Mark();
      Pick(entry.Below(), index_.Below(*same));
      builder_.Close();
    }
  }

  const FieldIndex& index_;
  const bool inside_;
  FieldSetBuilder builder_;
};

// Visits the members of one level together, as ForEach promises.
class Visitor {
 public:
  explicit Visitor(const std::function<void(std::span<const PathElement>)>& f) : f_(f) {}

  void Visit(Level level) {
    for (Level rest = level; !rest.empty(); rest = Rest(rest)) {
      if (!First(rest).member) continue;
      path_.push_back(First(rest).element);
      f_(path_);
      path_.pop_back();
    }
    for (Level rest = level; !rest.empty(); rest = Rest(rest)) {
      if (First(rest).size == 1) continue;
      path_.push_back(First(rest).element);
      Visit(First(rest).Below());
      path_.pop_back();
    }
  }

 private:
  const std::function<void(std::span<const PathElement>)>& f_;
  std::vector<PathElement> path_;
};

}  // namespace

FieldSet FieldSet::Of(const std::vector<std::vector<PathElement>>& paths) {
  std::vector<FieldSet> sets;
  for (const std::vector<PathElement>& path : paths) {
    if (path.empty()) continue;
    FieldSetBuilder builder;
    for (const PathElement& element : path) builder.Open(element);
    builder.Mark();
    for (size_t i = 0; i < path.size(); ++i) builder.Close();
    sets.push_back(builder.Finish());
  }
  return UnionOf(std::move(sets));
}

// Unites pairs, then pairs of pairs, and so on.
FieldSet FieldSet::UnionOf(std::vector<FieldSet> sets) {
  if (sets.empty()) return {};
  for (size_t step = 1; step < sets.size(); step *= 2) {
    for (size_t i = 0; i + step < sets.size(); i += 2 * step) {
      sets[i] = sets[i].Union(sets[i + step]);
      sets[i + step] = {};
    }
  }
  return std::move(sets.front());
}

size_t FieldSet::Size() const {
  return static_cast<size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.member; }));
}

bool FieldSet::Contains(std::span<const PathElement> path) const {
  Level level = entries_;
  while (!path.empty() && !level.empty()) {
    const Entry& entry = First(level);
    if (entry.element != path.front()) {
      level = Rest(level);
    } else if (path.size() == 1) {
      return entry.member;
    } else {
      level = entry.Below();
      path = path.subspan(1);
    }
  }
  return false;
}

void FieldSet::ForEach(const std::function<void(std::span<const PathElement>)>& f) const {
  Visitor(f).Visit(entries_);
}

FieldSet FieldSet::Union(const FieldSet& other) const {
  return Combiner(SetOperation::kUnion).Run(entries_, other.entries_);
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  return Combiner(SetOperation::kIntersection).Run(entries_, other.entries_);
}

FieldSet FieldSet::Difference(const FieldSet& other) const {
  return Combiner(SetOperation::kDifference).Run(entries_, other.entries_);
}

FieldSet FieldSet::RecursiveDifference(const FieldSet& other) const {
  return Combiner(SetOperation::kRecursiveDifference).Run(entries_, other.entries_);
}

FieldIndex::FieldIndex(const FieldSet& set) : set_(set) {
  entries_.reserve(set.Entries().size());
  ranges_.resize(set.Entries().size() + 1);
  Add(0, set.Entries());
}

void FieldIndex::Add(size_t parent, FieldSet::Level level) {
  const auto begin = static_cast<uint32_t>(entries_.size());
  for (FieldSet::Level rest = level; !rest.empty(); rest = Rest(rest)) {
    entries_.push_back(&First(rest));
  }
  const auto end = static_cast<uint32_t>(entries_.size());
  ranges_[parent] = {begin, end - begin};
  for (uint32_t i = begin; i < end; ++i) {
    const Entry& entry = *entries_[i];
    if (entry.size > 1) {
      Add(static_cast<size_t>(&entry - set_.Entries().data()) + 1, entry.Below());
    }
  }
}

const Entry* FieldIndex::Find(Level level, const PathElement& element) {
  const auto at = std::lower_bound(
      level.begin(), level.end(), element,
      [](const Entry* entry, const PathElement& wanted) { return entry->element < wanted; });
  return at == level.end() || (*at)->element != element ? nullptr : *at;
}

bool FieldIndex::Intersects(const FieldSet& other) const {
  return Picker(*this, /*inside=*/true).FindsAny(other.Entries(), Top());
}

FieldSet FieldIndex::Inside(const FieldSet& other) const {
  return Picker(*this, /*inside=*/true).Run(other);
}

FieldSet FieldIndex::Outside(const FieldSet& other) const {
  return Picker(*this, /*inside=*/false).Run(other);
}

void FieldSetBuilder::Close() {
  const uint32_t at = open_.back();
  open_.pop_back();
  Entry& entry = set_.entries_[at];
  entry.size = static_cast<uint32_t>(set_.entries_.size()) - at;
  if (entry.size == 1 && !entry.member) set_.entries_.pop_back();
}

void FieldSetBuilder::Copy(const Entry& entry) { Copy(Level(&entry, entry.size)); }

}  // namespace berth::merge
