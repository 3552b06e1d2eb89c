// One transaction of several writes with shared puts: their compares, puts and deletes one behind
// the other, and one put of each shared key with what all of them made of it. Internal to commit.
//
// Not thread-safe; all of it belongs to one snapshot of the picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "commit/write.h"
#include "state/follower.h"
#include "state/text_map.h"
#include "store/types.h"

namespace berth::commit {

class MergedTxn {
 public:
  /// `follower` must outlive it.
  explicit MergedTxn(const state::Follower& follower);

  enum class Added : uint8_t {
    kYes,
    kClashes,  // It writes what another compares or writes, or the other way round.
    kFull,     // It would get too large. The first one never is: that is the engine's to say.
    kOld,      // The picture shows that something it compares has changed.
    kAgain,    // SharedPut::apply wants it to be decided again.
    kFailed,   // Likewise, with an error: see Failure().
  };

  /// Takes the write in, unless it cannot be; `txn` is empty afterwards only if it is in. The
  /// object itself is put at `own_put`, and is no key with a fixed slot, as shared ones may be.
  Added Add(store::Txn& txn, size_t own_put, const std::vector<SharedPut>& shared);
  const base::Error& Failure() const { return failure_; }

  /// Where a write's own parts are.
  struct Part {
    std::vector<size_t> compares = {};  // Others may have the same ones.
    size_t own_put = 0;                 // Of the object, if it is put.
    size_t first_delete = 0;
  };
  const std::vector<Part>& Parts() const { return parts_; }

  /// A shared key and what the picture shows of it.
  struct Key {
    std::string key = {};
    int64_t before = 0;
  };
  struct Taken {
    store::Txn txn = {};
    std::vector<Part> parts = {};  // In the order of Add.
    std::vector<Key> keys = {};
    size_t first_shared_compare = 0;
  };
  /// The whole. Nothing can be added afterwards.
  Taken Take();

 private:
  struct Use {
    bool written = false;
    std::optional<size_t> compare = {};  // Its place, if it is compared.
  };
  struct Shared {
    int64_t before = 0;
    std::optional<std::string> stored = {};
    size_t writes = 0;  // That have changed it.
  };

  bool Clashes(const store::Txn& txn, const std::vector<SharedPut>& shared) const;
  bool HasRoom(const store::Txn& txn, const std::vector<SharedPut>& shared) const;
  bool IsOld(const store::Txn& txn) const;
  Added Apply(const std::vector<SharedPut>& shared);
  std::optional<base::Error> Begin(const SharedPut& put, Shared& key) const;
  void Append(store::Txn& txn, size_t own_put);

  const state::Follower& follower_;
  const state::SnapshotPtr snapshot_;
  const size_t max_items_;

  store::Txn txn_;
  std::vector<store::Put> fixed_;  // Puts of keys that have their place behind all others.
  size_t bytes_ = 0;
  std::vector<Part> parts_;
  state::TextMap<Use> uses_;  // Of all keys but the shared ones.
  state::TextMap<Shared> shared_;
  base::Error failure_;
};

}  // namespace berth::commit
