// One group of transactions: decides each on the state that the ones before it leave, and gathers
// what becomes of them into one write batch. Nothing here waits for a sync or replies: a group is
// made, then written by somebody else, then settled as a whole, one way or the other.
//
// Threads: belongs to one thread; reads the index and the database, which that thread alone
// changes.
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

/// A transaction that waits, its limits checked.
struct Waiting {
  Txn txn = {};
  std::vector<KeyHash> hashes =
      {};  // Of the keys of its compares, puts and deletes, in this order.
  std::function<void(TxnReply)> done = {};
};

class Group {
 public:
  /// `index` must outlive it.
  Group(std::string directory, const KeyIndex& index)
      : directory_(std::move(directory)), index_(index) {}

  /// Begins a new one; its first event gets revision `first`. `now` is in milliseconds since 1970.
  void Begin(const Database& database, Revision first, int64_t now);

  void Add(Waiting waiting);

  /// Large enough: more would only make those in it wait.
  bool IsFull() const;

  /// For what else is to be written with it.
  rocksdb::WriteBatch& Batch() { return batch_; }

  /// To be called when all are in: fills the batch.
  void Finish();

  bool HasEvents() const { return !events_.empty(); }
  bool HasReplies() const { return !replies_.empty(); }
  size_t Transactions() const { return replies_.size(); }
  Revision First() const { return first_; }
  /// What comes after it begins here.
  Revision Next() const { return next_; }
  /// Its record in the log.
  const std::string& LogBytes() const { return log_record_; }
  /// By how much history grows: its own log and the versions it replaces.
  uint64_t HistoryBytes() const { return history_bytes_; }

  std::span<const KeyIndex::Change> Changes() const { return changes_; }
  std::vector<EventPtr> TakeEvents() { return std::exchange(events_, {}); }

  /// Each gets its reply, which leaves the group without any. Written: what was decided.
  void Reply();
  /// Not written: refused, all of them, since a conflict may be with one that was not written.
  void Refuse(const base::Error& error);
  /// Perhaps written: so for those that may have happened, the others are refused.
  void LeaveOpen(const base::Error& error);

 private:
  struct Pending {
    TxnReply reply;
    std::function<void(TxnReply)> done;
  };

  /// Where the last put of a key is found.
  struct Place {
    Revision revision = {};        // 0: nowhere.
    const Event* event = nullptr;  // In this group; null: in the database.
    int64_t deadline = 0;          // In this group only.
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

  /// Of the data.
  struct Row {
    const Event* event = nullptr;
    int64_t deadline = 0;
  };

  Place Find(const KeyHash& key) const;
  bool Read(std::string_view key, const Place& place, Previous& previous, TxnReply& reply) const;
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
  std::vector<Previous> previous_;  // Of the transaction that is being added, per write.
  std::vector<Pending> replies_;
};

}  // namespace berth::store::rocks
