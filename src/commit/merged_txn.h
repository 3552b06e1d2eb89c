// One transaction of several writes with shared puts: their compares, puts and deletes one after
// the other, and one put of each shared key with the changes of all of them. Internal to commit.
//
// Not thread-safe. A transaction is built on one snapshot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "commit/write.h"
#include "state/follower.h"
#include "state/resource.h"
#include "state/text_map.h"
#include "store/types.h"

namespace berth::commit {

struct MergedTxn {
  /// Where the parts of one write are.
  struct Part {
    std::vector<size_t> compares = {};  // Indexes. Other writes may share some of them.
    size_t object_put = 0;              // Index of the object's put, if it is put.
    size_t first_delete = 0;            // Index of the object's delete, if it is deleted.
  };
  /// A shared key and its revision in the snapshot, 0 if it does not exist.
  struct Key {
    std::string key = {};
    int64_t before = 0;
  };

  store::Txn txn = {};
  std::vector<Part> parts = {};  // One per write, in the order of Add.
  std::vector<Key> keys = {};
  size_t first_shared_compare = 0;  // Index of the first compare of a shared key.
};

class MergedTxnBuilder {
 public:
  /// Builds on the follower's current snapshot. `max_items` is the engine's limit. Follower and
  /// resources must outlive the builder.
  MergedTxnBuilder(const state::Follower& follower, const state::Resources& resources,
                   size_t max_items);

  enum class Added : uint8_t {
    kYes,
    kClashes,      // It writes a key that another compares or writes, or the other way round.
    kFull,         // The transaction would get too large. Never said of the first write.
    kOutdated,     // The snapshot shows that a key which it compares has changed.
    kDecideAgain,  // SharedPut::apply has returned false.
    kFailed,       // SharedPut::apply has returned an error: see Failure().
  };

  /// Adds a write's own transaction. `txn` is left empty if it was added, otherwise unchanged. The
  /// object itself is put at index `object_put`, and its key has no fixed slot (codec/slot.h).
  /// Shared keys may have one.
  Added Add(store::Txn& txn, size_t object_put, const std::vector<SharedPut>& shared);
  const base::Error& Failure() const { return failure_; }

  /// Returns the whole transaction. Nothing can be added afterwards.
  MergedTxn Build();

 private:
  /// How the transaction uses a key that is not shared.
  struct Use {
    bool written = false;
    std::optional<size_t> compare = {};  // Its index, if the key is compared.
  };
  struct Shared {
    int64_t before = 0;
    std::optional<std::string> stored = {};
    size_t writes = 0;  // Number of writes that have changed it.
  };

  bool Clashes(const store::Txn& txn, const std::vector<SharedPut>& shared) const;
  bool HasRoom(const store::Txn& txn, const std::vector<SharedPut>& shared) const;
  bool IsOutdated(const store::Txn& txn) const;
  Added Apply(const std::vector<SharedPut>& shared);
  std::optional<base::Error> Read(const SharedPut& put, Shared& key) const;
  void Append(store::Txn& txn, size_t object_put);

  const state::Follower& follower_;
  const state::Resources& resources_;
  const state::SnapshotPtr snapshot_;
  const size_t max_items_;

  store::Txn txn_;
  std::vector<store::Put> fixed_;  // Puts of keys with a fixed slot. They come after all others.
  size_t bytes_ = 0;
  std::vector<MergedTxn::Part> parts_;
  state::TextMap<Use> uses_;
  state::TextMap<Shared> shared_;
  base::Error failure_;
};

}  // namespace berth::commit
