#include "merge/field_set.h"

#include <algorithm>

namespace berth::merge {
namespace {

using Entry = FieldSet::Entry;
using Level = FieldSet::Level;

enum class Operation : uint8_t { kUnion, kIntersection, kDifference, kRecursiveDifference };

class Combiner {
 public:
  explicit Combiner(Operation operation) : operation_(operation) {}

  FieldSet Run(Level a, Level b) {
    builder_.Reserve(operation_ == Operation::kUnion ? std::max(a.size(), b.size()) : a.size());
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
    if (operation_ != Operation::kIntersection) builder_.Copy(a);
    if (operation_ == Operation::kUnion) builder_.Copy(b);
  }

  void OnlyInA(const Entry& entry) {
    if (operation_ != Operation::kIntersection) builder_.Copy(entry);
  }

  void OnlyInB(const Entry& entry) {
    if (operation_ == Operation::kUnion) builder_.Copy(entry);
  }

  void InBoth(const Entry& a, const Entry& b) {
    if (operation_ == Operation::kRecursiveDifference && b.member) return;
    builder_.Open(a.element);
    if (IsMember(a.member, b.member)) builder_.Mark();
    Levels(a.Below(), b.Below());
    builder_.Close();
  }

  bool IsMember(bool in_a, bool in_b) const {
    switch (operation_) {
      case Operation::kUnion:
        return in_a || in_b;
      case Operation::kIntersection:
        return in_a && in_b;
      case Operation::kDifference:
      case Operation::kRecursiveDifference:
        break;
    }
    return in_a && !in_b;
  }

  const Operation operation_;
  FieldSetBuilder builder_;
};

bool Intersect(Level a, Level b) {
  while (!a.empty() && !b.empty()) {
    const auto order = First(a).element <=> First(b).element;
    if (order == 0 &&
        ((First(a).member && First(b).member) || Intersect(First(a).Below(), First(b).Below()))) {
      return true;
    }
    if (order <= 0) a = Rest(a);
    if (order >= 0) b = Rest(b);
  }
  return false;
}

// Those of one level together, as ForEach promises.
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
  FieldSet all;
  for (const std::vector<PathElement>& path : paths) {
    if (path.empty()) continue;
    FieldSetBuilder builder;
    for (const PathElement& element : path) builder.Open(element);
    builder.Mark();
    for (size_t i = 0; i < path.size(); ++i) builder.Close();
    all = all.Union(builder.Finish());
  }
  return all;
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

bool FieldSet::Intersects(const FieldSet& other) const {
  return Intersect(entries_, other.entries_);
}

void FieldSet::ForEach(const std::function<void(std::span<const PathElement>)>& f) const {
  Visitor(f).Visit(entries_);
}

FieldSet FieldSet::Union(const FieldSet& other) const {
  return Combiner(Operation::kUnion).Run(entries_, other.entries_);
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  return Combiner(Operation::kIntersection).Run(entries_, other.entries_);
}

FieldSet FieldSet::Difference(const FieldSet& other) const {
  return Combiner(Operation::kDifference).Run(entries_, other.entries_);
}

FieldSet FieldSet::RecursiveDifference(const FieldSet& other) const {
  return Combiner(Operation::kRecursiveDifference).Run(entries_, other.entries_);
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
