// Sets of fields, for the fields of an object that a manager owns.
//
// A set holds paths. It stores them as one array of entries in the order in which Kubernetes
// writes them, each entry followed by the entries below it. So every operation is one pass
// over two arrays. An entry is a member itself, or is only there for members below it. The
// object as a whole is never a member.
//
// As text a set is `fieldsV1`:
// {"f:spec":{"f:ports":{".":{},"k:{...}":{"f:port":{}}},"f:type":{}}}. An entry without entries
// below it is a member. One with entries below it is a member if it has ".".
//
// Regular values, safe to read from any thread. Operations recurse once per level of paths; the
// reader bounds the levels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "merge/path_element.h"

namespace berth::merge {

class FieldSet {
 public:
  struct Entry {
    PathElement element;
    uint32_t size = 1;  // Number of entries: this one and all below it.
    bool member = false;

    /// Returns the entries below this one, which are like a set of their own.
    std::span<const Entry> Below() const { return {this + 1, size - 1}; }

    bool operator==(const Entry&) const = default;
  };
  /// Sibling entries with all that is below them. `size` of an entry is the
  /// distance to its next sibling.
  using Level = std::span<const Entry>;

  FieldSet() = default;

  /// Makes a set from paths in any order, for code and tests.
  static FieldSet Of(const std::vector<std::vector<PathElement>>& paths);
  /// Returns the union of any number of sets, faster than one Union after the other.
  static FieldSet UnionOf(std::vector<FieldSet> sets);

  bool Empty() const { return entries_.empty(); }
  /// Returns the number of members.
  size_t Size() const;
  bool Contains(std::span<const PathElement> path) const;

  /// Calls f for every member: first for all of a level, then for those below each of them.
  void ForEach(const std::function<void(std::span<const PathElement>)>& f) const;

  FieldSet Union(const FieldSet& other) const;
  FieldSet Intersection(const FieldSet& other) const;
  /// Returns this set without the members of the other. Members below those stay.
  FieldSet Difference(const FieldSet& other) const;
  /// Returns this set without the members of the other and without all below them.
  FieldSet RecursiveDifference(const FieldSet& other) const;

  Level Entries() const { return entries_; }

  bool operator==(const FieldSet&) const = default;

 private:
  friend class FieldSetBuilder;

  std::vector<Entry> entries_;
};

/// The first entry of a level, which must not be empty, and the level after it.
inline const FieldSet::Entry& First(FieldSet::Level level) { return level.front(); }
inline FieldSet::Level Rest(FieldSet::Level level) { return level.subspan(level.front().size); }

/// An index that finds single members of a set fast, for comparing many small sets with a large
/// one. The set must not change during its lifetime.
class FieldIndex {
 public:
  /// The entries right below one entry.
  using Level = std::span<const FieldSet::Entry* const>;

  explicit FieldIndex(const FieldSet& set);

  Level Top() const { return Range(0); }
  Level Below(const FieldSet::Entry& entry) const {
    return Range(static_cast<size_t>(&entry - set_.Entries().data()) + 1);
  }
  /// Returns null if the level does not have the element.
  static const FieldSet::Entry* Find(Level level, const PathElement& element);

  /// Returns whether both sets have a member in common.
  bool Intersects(const FieldSet& other) const;
  /// Returns the members of `other` that are in this set (Inside) or not in it (Outside).
  FieldSet Inside(const FieldSet& other) const;
  FieldSet Outside(const FieldSet& other) const;

 private:
  Level Range(size_t parent) const {
    return Level(entries_).subspan(ranges_[parent].first, ranges_[parent].second);
  }
  void Add(size_t parent, FieldSet::Level level);

  const FieldSet& set_;
  std::vector<const FieldSet::Entry*> entries_;
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;  // In entries_, per entry and for the top.
};

/// Builds a set from front to back.
class FieldSetBuilder {
 public:
  /// Enters a new entry, which must come after all its siblings so far.
  void Open(PathElement element) {
    open_.push_back(static_cast<uint32_t>(set_.entries_.size()));
    set_.entries_.push_back({.element = std::move(element)});
  }
  /// Makes the current entry a member.
  void Mark() { set_.entries_[open_.back()].member = true; }
  /// Leaves the current entry. An entry that is not a member and has no
  /// members below it is dropped.
  void Close();
  /// Does Open, Mark and Close in one call.
  void Add(PathElement element) {
    set_.entries_.push_back({.element = std::move(element), .member = true});
  }
  /// Adds an entry with all entries below it.
  void Copy(const FieldSet::Entry& entry);
  void Copy(FieldSet::Level level) {
    set_.entries_.insert(set_.entries_.end(), level.begin(), level.end());
  }

  void Reserve(size_t entries) { set_.entries_.reserve(entries); }

  /// Returns the set. To be called once, with all entries closed.
  FieldSet Finish() { return std::move(set_); }

 private:
  FieldSet set_;
  std::vector<uint32_t> open_;
};

/// Parses fieldsV1. Elements of unknown kinds are left out with all below them, as in
/// Kubernetes. An Error is kBadRequest.
base::Result<FieldSet> ReadFieldsV1(std::string_view text);

std::string WriteFieldsV1(const FieldSet& set);

}  // namespace berth::merge
