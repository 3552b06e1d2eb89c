// The two pure mappings between what callers see and what etcd stores.
//
// Revisions are base + (etcd's mod_revision << 12 | slot). Slots 0 to 2047 are puts. Slots 2048 to
// 4094 are the deletes of a revision in the order of its events. Slot 4095 belongs to no event and
// stands for "all of that revision". The base is in the marker, so that revisions keep rising after
// a store was restored or moved here. A caller's revision of a put names a key's etcd revision and
// one slot in it. A key is written once per etcd revision, so (key, mod_revision) has exactly one
// slot for ever.
//
// Callers name keys /registry/...; in etcd the first part is --etcd-prefix.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/types.h"

namespace berth::store::etcd {

inline constexpr int kSlotBits = 12;
inline constexpr int kHeadSlot = (1 << kSlotBits) - 1;

/// The position of an event: the mod_revision of its etcd Txn, and its slot in that Txn.
struct EventPosition {
  int64_t mod = 0;
  int slot = 0;

  bool operator==(const EventPosition&) const = default;
};

class Revisions {
 public:
  explicit Revisions(Revision base) : base_(base) {}

  Revision Base() const { return base_; }
  Revision At(int64_t mod, int slot) const;
  /// Returns the revision for all of an etcd revision: no event of it has a higher one.
  Revision Head(int64_t mod) const { return At(mod, kHeadSlot); }

  /// Splits a revision. Returns mod 0 if it is before the store's first revision.
  EventPosition Of(Revision revision) const;

  /// Returns the first etcd revision that may have events after `after`.
  int64_t FirstAfter(Revision after) const;
  /// Returns the etcd revision to compact at so that everything after `upto` is kept, or 0 if
  /// nothing may be compacted.
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
  /// `prefix` has no trailing slash: "/registry".
  explicit KeyMap(std::string_view prefix);

  /// Returns whether a caller's key can be stored in etcd.
  static bool Covers(std::string_view key);
  std::string ToEtcd(std::string_view key) const;
  std::string ToCaller(std::string_view etcd_key) const;

  /// Returns the range of all the store's keys.
  KeyRange All() const;
  /// Returns the range of a caller's prefix, starting after the key `after` unless that is empty.
  /// Returns nullopt if the range is empty.
  std::optional<KeyRange> Within(std::string_view prefix, std::string_view after) const;

 private:
  std::string root_;  // With the trailing slash.
};

/// Returns the first key after all keys that begin with `prefix`, in the form that etcd expects.
std::string PrefixEnd(std::string prefix);

}  // namespace berth::store::etcd
