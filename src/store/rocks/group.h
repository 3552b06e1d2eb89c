// One group of transactions. It decides each transaction on the state that the ones before it
// leave, and collects their writes in one batch. It does not write the batch itself: the committer
// fills a group, writes it, and then settles it as a whole, as written or as not written.
//
// Threads: a group belongs to one thread. It reads the index and the database, which only that
// thread changes.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <rocksdb/write_batch.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "store/rocks/database.h"
#include "store/rocks/key_index.h"
#include "store/types.h"

namespace berth::store::rocks {

/// A waiting transaction whose limits have been checked.
struct Waiting {
  Txn txn = {};
  std::vector<KeyHash> hashes = {};  // Of the keys of compares, puts and deletes, in this order.
  std::function<void(TxnReply)> done = {};
};

class Group {
 public:
  /// Makes an empty group. `index` must outlive it.
  Group(std::string directory, const KeyIndex& index)
      : directory_(std::move(directory)), index_(index) {}

  /// Begins a new group. Its first event gets revision `first`. `now` is in milliseconds since
  /// 1970.
  void Begin(const Database& database, Revision first, int64_t now);

  void Add(Waiting waiting);

  /// Returns whether the group is large enough. More transactions would only delay those in it.
  bool IsFull() const;

  /// Returns the batch, for other writes that belong to the group.
  rocksdb::WriteBatch& Batch() { return batch_; }

  /// Fills the batch. To be called after the last Add.
  void Finish();

  bool HasEvents() const { return !events_.empty(); }
  bool HasReplies() const { return !replies_.empty(); }
  size_t Transactions() const { return replies_.size(); }
  Revision First() const { return first_; }
  /// Returns the first revision after the group.
  Revision Next() const { return next_; }
  /// Returns the group's record in the log.
  const std::string& LogBytes() const { return log_record_; }
  /// Returns by how many bytes history grows: the group's log record and the versions it replaces.
  uint64_t HistoryBytes() const { return history_bytes_; }

  std::span<const KeyIndex::Change> Changes() const { return changes_; }
  std::vector<EventPtr> TakeEvents() { return std::exchange(events_, {}); }

  // Each of these sends all replies and leaves the group without any.

  /// Settles a group that was written: each transaction gets the reply that was decided.
  void Reply();
  /// Settles a group that was not written. All transactions are refused, since a conflict may be
  /// with one that was not written.
  void Refuse(const base::Error& error);
  /// Settles a group that may have been written. Transactions that may have happened get kUnknown,
  /// the others are refused.
  void LeaveOpen(const base::Error& error);

 private:
  struct Pending {
    TxnReply reply;
    std::function<void(TxnReply)> done;
  };

  /// The location of the last put of a key: in this group or in the database.
  struct PutLocation {
    Revision revision = {};        // 0 if the key does not exist.
    const Event* event = nullptr;  // The event of this group. Null if the put is in the database.
    int64_t deadline = 0;          // Set only if the put is in this group.
  };

  struct Previous {
    Revision revision = {};
    int64_t deadline = 0;
    std::string value;
  };

  struct Written {
    size_t event = 0;
    int64_t deadline = 0;
  };

  /// A row of the data family.
  struct Row {
    const Event* event = nullptr;
    int64_t deadline = 0;
  };

  PutLocation Find(const KeyHash& key) const;
  bool Read(std::string_view key, const PutLocation& location, Previous& previous,
            TxnReply& reply) const;
  bool Compare(const Waiting& waiting, TxnReply& reply) const;
  bool ReadPrevious(const Waiting& waiting, TxnReply& reply);
  void ApplyPut(Put put, const KeyHash& hash, Previous& previous);
  void ApplyDelete(std::string key, const KeyHash& hash, Previous& previous);
  void Note(std::shared_ptr<Event> event, const KeyHash& hash, int64_t deadline,
            Previous& previous);
  void AddRows();

  const std::string directory_;
  const KeyIndex& index_;

  const Database* database_ = nullptr;
  int64_t now_ = 0;
  Revision first_;
  Revision next_;
  size_t bytes_ = 0;
  uint64_t history_bytes_ = 0;
  rocksdb::WriteBatch batch_;
  std::string log_record_;
  std::vector<Row> rows_;
  std::vector<EventPtr> events_;
  std::vector<KeyIndex::Change> changes_;
  absl::flat_hash_map<KeyHash, Written, KeyHashHasher> written_;  // The last write of each key.
  std::vector<Previous> previous_;  // One for each write of the transaction that is being added.
  std::vector<Pending> replies_;
};

}  // namespace berth::store::rocks
