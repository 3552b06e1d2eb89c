// The revisions that are known to belong to particular keys.
//
// etcd can compare a key's mod_revision, but not the slot that a caller's revision has in addition.
// Two keys written in the same etcd revision differ in the slot alone. So comparing mod_revisions
// is exact only if the revision really was that key's. The table remembers pairs of key and
// revision that this process has seen together. It may forget pairs. A compare with an unknown
// revision is sent as one that always fails. Its failure returns the key's current value, which
// either makes the revision known or makes the compare fail for good. Then the transaction is sent
// again.
//
// Threads: any; without locks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "store/types.h"

namespace berth::store::etcd {

class KnownRevisions {
 public:
  /// Has room for `entries` pairs of 8 bytes each. `seed` makes the hashes unpredictable.
  KnownRevisions(size_t entries, uint64_t seed);

  void Note(std::string_view key, Revision revision);
  bool Has(std::string_view key, Revision revision) const;

 private:
  static constexpr size_t kWays = 4;

  uint64_t Fingerprint(std::string_view key, Revision revision) const;
  std::atomic<uint64_t>* Bucket(uint64_t fingerprint) const;

  const uint64_t seed_;
  const size_t buckets_;  // Always a power of two.
  const std::unique_ptr<std::atomic<uint64_t>[]> table_;
};

}  // namespace berth::store::etcd
