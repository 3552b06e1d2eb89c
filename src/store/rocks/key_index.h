// All keys that exist, with the revision of the last put of each, in memory: 25 to 50 bytes a key.
// The index also holds the published revision and changes together with it in one step, so a reader
// that sees a part of a commit sees all of it.
//
// Threads: every function may be called from any thread. Only one thread at a time may change the
// index.
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
    Revision revision = {};  // 0 if the key was deleted.
  };

  // Reserve and Load are for opening a store: they make room, and add keys one by one.
  void Reserve(size_t keys);
  void Load(const KeyHash& key, Revision revision);

  /// Applies the changes in order and sets the published revision.
  void Publish(std::span<const Change> changes, Revision published);

  /// Returns the revision of the key's last put. Returns 0 if the key does not exist.
  Revision Find(const KeyHash& key) const;

  Revision Published() const;
  size_t Size() const;

 private:
  // There are many small tables instead of one. Growing one of them moves only a sixty-fourth of
  // the keys, and needs only that much more memory meanwhile.
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
