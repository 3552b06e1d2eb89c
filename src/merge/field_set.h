// Sets of fields: which of an object's fields a manager owns.
//
// A set holds paths. It keeps them as one array of entries in the order in which Kubernetes writes
// them, each entry followed by what lies below it; so every operation is one pass over two arrays.
// An entry may be a member itself, or be there only for members below it. The object as a whole is
// never a member.
//
// As text it is `fieldsV1`: {"f:spec":{"f:ports":{".":{},"k:{...}":{"f:port":{}}},"f:type":{}}}.
// What has nothing below it is a member; "." makes one of what has.
//
// Regular values, safe to read from any thread. Operations recurse once per level of paths, which
// reading bounds.
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
    uint32_t size = 1;  // Of entries: this one and all below it.
    bool member = false;

    /// What lies below; like a set of its own.
    std::span<const Entry> Below() const { return {this + 1, size - 1}; }

    bool operator==(const Entry&) const = default;
  };
  /// Entries one below the other; steps over them are as wide as `size` says.
  using Level = std::span<const Entry>;

  FieldSet() = default;

  /// For sets written down in code and tests, in any order.
  static FieldSet Of(const std::vector<std::vector<PathElement>>& paths);
  /// Of any number of sets, without looking at each member as often.
  static FieldSet UnionOf(std::vector<FieldSet> sets);

  bool Empty() const { return entries_.empty(); }
  /// The number of members.
  size_t Size() const;
  bool Contains(std::span<const PathElement> path) const;

  /// Calls f for every member: first all those of a level, then what lies below each of them.
  void ForEach(const std::function<void(std::span<const PathElement>)>& f) const;

  FieldSet Union(const FieldSet& other) const;
  FieldSet Intersection(const FieldSet& other) const;
  /// Without the members of the other; what is below them stays.
  FieldSet Difference(const FieldSet& other) const;
  /// Without the members of the other and all below them.
  FieldSet RecursiveDifference(const FieldSet& other) const;

  Level Entries() const { return entries_; }

  bool operator==(const FieldSet&) const = default;

 private:
  friend class FieldSetBuilder;

  std::vector<Entry> entries_;
};

/// The first entry of a level that is not empty, and the level behind it.
inline const FieldSet::Entry& First(FieldSet::Level level) { return level.front(); }
inline FieldSet::Level Rest(FieldSet::Level level) { return level.subspan(level.front().size); }

/// A set in which single members are found fast: for comparing many small sets with one that may be
/// large. The set must stay as it is meanwhile.
class FieldIndex {
 public:
  /// The entries right below one.
  using Level = std::span<const FieldSet::Entry* const>;

  explicit FieldIndex(const FieldSet& set);

  Level Top() const { return Range(0); }
  Level Below(const FieldSet::Entry& entry) const {
    return Range(static_cast<size_t>(&entry - set_.Entries().data()) + 1);
  }
  /// Null if there is none.
  static const FieldSet::Entry* Find(Level level, const PathElement& element);

  /// Whether they have a member in common.
  bool Intersects(const FieldSet& other) const;
  /// What the other has in common with this set, and what it has besides.
  FieldSet Inside(const FieldSet& other) const;
  FieldSet Outside(const FieldSet& other) const;

 private:
  Level Range(size_t parent) const {
    return Level(entries_).subspan(ranges_[parent].first, ranges_[parent].second);
  }
  void Add(size_t parent, FieldSet::Level level);

  const FieldSet& set_;
  std::vector<const FieldSet::Entry*> entries_;
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;  // In entries_, of each entry and the top.
};

/// Makes a set from front to back.
class FieldSetBuilder {
 public:
  /// Goes into a new entry, which must come after all its neighbours so far.
  void Open(PathElement element) {
    open_.push_back(static_cast<uint32_t>(set_.entries_.size()));
    set_.entries_.push_back({.element = std::move(element)});
  }
  /// Makes the entry it is in a member.
  void Mark() { set_.entries_[open_.back()].member = true; }
  /// Leaves it. An entry that is neither a member nor has any below it is dropped.
  void Close();
  /// Open, Mark and Close in one.
  void Add(PathElement element) {
    set_.entries_.push_back({.element = std::move(element), .member = true});
  }
  /// An entry with all that is below it.
  void Copy(const FieldSet::Entry& entry);
  void Copy(FieldSet::Level level) {
    set_.entries_.insert(set_.entries_.end(), level.begin(), level.end());
  }

  void Reserve(size_t entries) { set_.entries_.reserve(entries); }

  /// Once, with everything closed.
  FieldSet Finish() { return std::move(set_); }

 private:
  FieldSet set_;
  std::vector<uint32_t> open_;
};

/// Elements that this version does not know are left out with all below them, as upstream. An Error
/// is kBadRequest.
base::Result<FieldSet> ReadFieldsV1(std::string_view text);

std::string WriteFieldsV1(const FieldSet& set);

}  // namespace berth::merge
