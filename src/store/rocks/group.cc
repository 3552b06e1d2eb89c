#include "store/rocks/group.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "store/rocks/rocks_layout.h"
#include "store/rocks/versions.h"

namespace berth::store::rocks {
namespace {

constexpr size_t kMaxGroupBytes = size_t{1} << 20;
constexpr size_t kMaxGroupTxns = 512;

/// Approximate size of a row beyond its key and value.
constexpr uint64_t kRowBytes = 16;

}  // namespace

void Group::Begin(const Database& database, Revision first, int64_t now) {
  database_ = &database;
  now_ = now;
  first_ = first;
  next_ = first;
  bytes_ = 0;
  history_bytes_ = 0;
  batch_.Clear();
  log_record_.clear();
  // The next group is probably as large as the last one.
  const size_t expected = changes_.size();
  events_.clear();
  events_.reserve(expected);
  rows_.clear();
  changes_.clear();
  written_.clear();
  written_.reserve(expected);
  replies_.clear();
}

bool Group::IsFull() const { return bytes_ >= kMaxGroupBytes || replies_.size() >= kMaxGroupTxns; }

void Group::Add(Waiting waiting) {
  Pending& pending = replies_.emplace_back();
  pending.done = std::move(waiting.done);
  TxnReply& reply = pending.reply;
  if (!Compare(waiting, reply) || !ReadPrevious(waiting, reply)) return;

  reply.outcome = Outcome::kCommitted;
  size_t write = 0;
  const KeyHash* hash = waiting.hashes.data() + waiting.txn.compares.size();
  reply.puts.reserve(waiting.txn.puts.size());
  for (Put& put : waiting.txn.puts) {
    reply.puts.push_back(next_);
    ApplyPut(std::move(put), hash[write], previous_[write]);
    ++write;
  }
  reply.deletes.reserve(waiting.txn.deletes.size());
  for (std::string& key : waiting.txn.deletes) {
    Previous& previous = previous_[write];
    reply.deletes.push_back(previous.revision ? next_ : Revision{});
    if (previous.revision) ApplyDelete(std::move(key), hash[write], previous);
    ++write;
  }
}

Group::PutLocation Group::Find(const KeyHash& key) const {
  if (const auto found = written_.find(key); found != written_.end()) {
    const Event& event = *events_[found->second.event];
    if (event.type == Event::Type::kDelete) return {};
    return {.revision = event.revision, .event = &event, .deadline = found->second.deadline};
  }
  return {.revision = index_.Find(key)};
}

/// Reads the put at `location`. If that fails, sets the reply to a refusal and returns false.
bool Group::Read(std::string_view key, const PutLocation& location, Previous& previous,
                 TxnReply& reply) const {
  previous.revision = location.revision;
  if (location.event != nullptr) {
    previous.deadline = location.deadline;
    previous.value = location.event->value;
    return true;
  }
  StoredVersion version;
  const rocksdb::Status status = ReadVersion(*database_, key, location.revision, nullptr, version);
  if (!status.ok()) {
    reply =
        TxnReply{.outcome = Outcome::kRefused, .error = DatabaseError("read", directory_, status)};
    return false;
  }
  previous.deadline = version.deadline;
  previous.value = std::move(version.value);
  return true;
}

bool Group::Compare(const Waiting& waiting, TxnReply& reply) const {
  for (size_t i = 0; i < waiting.txn.compares.size(); ++i) {
    const store::Compare& compare = waiting.txn.compares[i];
    const PutLocation location = Find(waiting.hashes[i]);
    if (location.revision == compare.revision) continue;
    Conflict conflict{.compare = i};
    if (location.revision) {
      Previous current;
      if (!Read(compare.key, location, current, reply)) return false;
      conflict.current = Entry{
          .key = compare.key, .value = std::move(current.value), .revision = current.revision};
    }
    reply.conflicts.push_back(std::move(conflict));
  }
  if (reply.conflicts.empty()) return true;
  reply.outcome = Outcome::kConflict;
  return false;
}

/// Reads what each write replaces. All of it is read before any write is applied, so that a failed
/// read changes nothing. Returns false if a read failed.
bool Group::ReadPrevious(const Waiting& waiting, TxnReply& reply) {
  const Txn& txn = waiting.txn;
  const KeyHash* hash = waiting.hashes.data() + txn.compares.size();
  previous_.resize(txn.puts.size() + txn.deletes.size());
  for (size_t i = 0; i < previous_.size(); ++i) {
    const PutLocation location = Find(hash[i]);
    previous_[i].revision = location.revision;
    if (!location.revision) continue;
    const std::string& key =
        i < txn.puts.size() ? txn.puts[i].key : txn.deletes[i - txn.puts.size()];
    if (!Read(key, location, previous_[i], reply)) return false;
  }
  return true;
}

void Group::ApplyPut(Put put, const KeyHash& hash, Previous& previous) {
  int64_t deadline = 0;
  if (put.ttl.count() > 0) deadline = now_ + std::chrono::milliseconds(put.ttl).count();
  bytes_ += put.key.size() + put.value.size();
  auto event = std::make_shared<Event>();
  event->key = std::move(put.key);
  event->value = std::move(put.value);
  Note(std::move(event), hash, deadline, previous);
}

void Group::ApplyDelete(std::string key, const KeyHash& hash, Previous& previous) {
  bytes_ += key.size();
  history_bytes_ += key.size() + kRowBytes;
  auto event = std::make_shared<Event>();
  event->type = Event::Type::kDelete;
  event->key = std::move(key);
  Note(std::move(event), hash, 0, previous);
}

/// Does what puts and deletes have in common: adds the rows, updates the deadlines, and makes the
/// write visible to later transactions of the group.
void Group::Note(std::shared_ptr<Event> event, const KeyHash& hash, int64_t deadline,
                 Previous& previous) {
  const std::string& key = event->key;
  const Op op = event->type == Event::Type::kPut ? Op::kPut : Op::kDelete;
  event->revision = next_;
  rows_.push_back({.event = event.get(), .deadline = deadline});
  AppendLogEvent(log_record_, {.op = op, .previous = previous.revision, .key = key});
  rocksdb::ColumnFamilyHandle* expiry = database_->Handle(Family::kExpiry);
  if (previous.revision) {
    if (previous.deadline != 0) {
      batch_.Delete(expiry, ExpiryKey({.at = previous.deadline, .key = key}));
    }
    history_bytes_ += key.size() + previous.value.size() + kRowBytes;
    event->previous =
        Entry{.key = key, .value = std::move(previous.value), .revision = previous.revision};
  }
  if (deadline != 0) {
    const Number revision = EncodeRevision(next_);
    batch_.Put(expiry, ExpiryKey({.at = deadline, .key = key}), View(revision));
  }
  changes_.push_back({.key = hash, .revision = op == Op::kPut ? next_ : Revision{}});
  written_.insert_or_assign(hash, Written{.event = events_.size(), .deadline = deadline});
  events_.push_back(std::move(event));
  ++next_.value;
}

/// Adds the rows of the data family in the order of keys. The memtable finds the place of a row
/// much faster if it is near the previous one, and without sorting, records of random addresses
/// would come between objects that are created one after the other.
void Group::AddRows() {
  std::ranges::sort(rows_, {}, [](const Row& row) -> const std::string& { return row.event->key; });
  rocksdb::ColumnFamilyHandle* data = database_->Handle(Family::kData);
  std::string head;
  for (const Row& row : rows_) {
    const DataSuffix suffix = EncodeDataSuffix(row.event->revision);
    head.clear();
    AppendVersionHead(head, row.event->type == Event::Type::kPut ? Op::kPut : Op::kDelete,
                      row.deadline);
    const std::array<rocksdb::Slice, 2> key{rocksdb::Slice(row.event->key),
                                            rocksdb::Slice(suffix.data(), suffix.size())};
    const std::array<rocksdb::Slice, 2> value{rocksdb::Slice(head),
                                              rocksdb::Slice(row.event->value)};
    batch_.Put(data, rocksdb::SliceParts(key.data(), 2), rocksdb::SliceParts(value.data(), 2));
  }
}

void Group::Finish() {
  if (events_.empty()) return;
  AddRows();
  const Number first = EncodeRevision(first_);
  batch_.Put(database_->Handle(Family::kLog), View(first), log_record_);
  history_bytes_ += log_record_.size() + kRowBytes;
}

void Group::Reply() {
  for (Pending& pending : replies_) pending.done(std::move(pending.reply));
  replies_.clear();
}

void Group::Refuse(const base::Error& error) {
  for (Pending& pending : replies_) {
    if (pending.reply.outcome != Outcome::kRefused) {
      pending.reply = TxnReply{.outcome = Outcome::kRefused, .error = error};
    }
  }
  Reply();
}

void Group::LeaveOpen(const base::Error& error) {
  for (Pending& pending : replies_) {
    const bool open = pending.reply.outcome == Outcome::kCommitted;
    pending.reply =
        TxnReply{.outcome = open ? Outcome::kUnknown : Outcome::kRefused, .error = error};
  }
  Reply();
}

}  // namespace berth::store::rocks
