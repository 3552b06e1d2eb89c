// Which revisions are known to be those of which keys.
//
// etcd can compare a key's mod_revision, but not the slot a caller's revision has on top of it. Two
// keys written in the same etcd revision differ in the slot alone, so comparing mod_revisions is
// exact only if the revision really was given to that key. The table remembers pairs of key and
// revision this process has seen together. It may forget: a compare with a revision that is not
// known is sent as one that cannot hold, its failure brings the key's present value, that makes the
// revision known or the compare fail for good, and the transaction is sent again.
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
  /// Room for `entries` pairs, 8 bytes each; `seed` makes the hashes nobody's to predict.
  KnownRevisions(size_t entries, uint64_t seed);

  void Note(std::string_view key, Revision revision);
  bool Has(std::string_view key, Revision revision) const;

 private:
  static constexpr size_t kWays = 4;

  uint64_t Fingerprint(std::string_view key, Revision revision) const;
  std::atomic<uint64_t>* Bucket(uint64_t fingerprint) const;

  const uint64_t seed_;
  const size_t buckets_;  // A power of two.
  const std::unique_ptr<std::atomic<uint64_t>[]> table_;
};

}  // namespace berth::store::etcd
