// The two pure mappings between what callers see and what etcd holds.
//
// Revisions: base + (etcd's mod_revision << 12 | slot). Slots 0 to 2047 are puts, 2048 to 4094 the
// deletes of a revision in the order of its events; 4095 is nobody's and stands for "all of that
// revision". The base is the marker's, so that revisions go on rising where a store was restored
// or moved here. A caller's revision of a put names a key's etcd revision and one slot in it; a key
// is written once per etcd revision, so (key, mod_revision) has exactly one slot for ever.
//
// Keys: callers name /registry/...; in etcd the first part is --etcd-prefix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/types.h"

namespace berth::store::etcd {

inline constexpr int kSlotBits = 12;
inline constexpr int kHeadSlot = (1 << kSlotBits) - 1;

/// A revision as etcd would say it.
struct Place {
  int64_t mod = 0;
  int slot = 0;

  bool operator==(const Place&) const = default;
};

class Revisions {
 public:
  explicit Revisions(Revision base) : base_(base) {}

  Revision Base() const { return base_; }
  Revision At(int64_t mod, int slot) const;
  /// All of an etcd revision: no event has a higher revision in it.
  Revision Head(int64_t mod) const { return At(mod, kHeadSlot); }

  /// mod 0 for what lies before the store's first revision.
  Place Of(Revision revision) const;

  /// The first etcd revision that may hold events after `after`.
  int64_t FirstAfter(Revision after) const;
  /// The etcd revision to compact at so that everything after `upto` stays: 0 for none.
  int64_t LastWithin(Revision upto) const;

 private:
  Revision base_;
};

/// One range of etcd's keys: from `begin` to before `end`.
struct KeyRange {
  std::string begin;
  std::string end;
};

class KeyMap {
 public:
  /// `prefix` without a slash at the end: "/registry".
  explicit KeyMap(std::string_view prefix);

  /// Whether a caller's key has a place in etcd.
  static bool Covers(std::string_view key);
  std::string ToEtcd(std::string_view key) const;
  std::string ToCaller(std::string_view etcd_key) const;

  /// Everything of the store.
  KeyRange All() const;
  /// What a caller's prefix names, behind the key `after` unless that is empty; nothing when that
  /// is nothing.
  std::optional<KeyRange> Within(std::string_view prefix, std::string_view after) const;

 private:
  std::string root_;  // With the slash.
};

/// The first key behind all that begin with `prefix`, as etcd wants it.
std::string PrefixEnd(std::string prefix);

}  // namespace berth::store::etcd
