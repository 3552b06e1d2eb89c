// Which keys there are and the revision of each one's last put, in memory: 25 to 50 bytes a key. It
// also holds the published revision, and moves with it in one step: whoever sees a commit in one
// place sees all of it everywhere.
//
// Threads: every function may be called from any thread; one thread at a time changes it.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/mutex.h"
#include "store/rocks/key_hash.h"
#include "store/types.h"

namespace berth::store::rocks {

class KeyIndex {
 public:
  explicit KeyIndex(const KeyHashSeed& seed) : seed_(seed) {}

  KeyHash Hash(std::string_view key) const { return HashKey(seed_, key); }

  struct Change {
    KeyHash key;
    Revision revision = {};  // 0: the key is gone.
  };

  /// While the store is being opened: makes room, and adds keys one by one.
  void Reserve(size_t keys);
  void Load(const KeyHash& key, Revision revision);

  /// The changes in their order, and the revision that becomes the published one.
  void Publish(std::span<const Change> changes, Revision published);

  /// Of the key's last put; 0: it does not exist.
  Revision Find(const KeyHash& key) const;

  Revision Published() const;
  size_t Size() const;

 private:
  // Many small tables instead of one: growing one moves a sixty-fourth of the keys, and needs that
  // much more memory while it does.
  static constexpr size_t kParts = 64;
  using Part = absl::flat_hash_map<KeyHash, Revision, KeyHashHasher>;

  static size_t PartOf(const KeyHash& key) { return key.high % kParts; }

  const KeyHashSeed seed_;
  mutable base::Mutex mutex_;
  std::array<Part, kParts> parts_ GUARDED_BY(mutex_);
  size_t size_ GUARDED_BY(mutex_) = 0;
  Revision published_ GUARDED_BY(mutex_);
};

}  // namespace berth::store::rocks
