// Histories written by hand, for the tests of the checks. Things happen in the order of the
// script's lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linear/linear_history.h"

namespace berth::linear {

class Script {
 public:
  size_t Call(size_t client, Request request) { return recorder_.Call(client, std::move(request)); }
  void Return(size_t operation, Reply reply) { recorder_.Return(operation, std::move(reply)); }

  /// Does an operation from call to reply with nothing in between.
  void Do(size_t client, Request request, Reply reply) {
    Return(Call(client, std::move(request)), std::move(reply));
  }

  History Take() { return recorder_.Take(); }

 private:
  Recorder recorder_;
};

// Requests.

inline Request Get(std::string key) { return GetRequest{std::move(key)}; }
inline Request Scan(std::string prefix) { return SnapshotRequest{std::move(prefix)}; }

inline store::Txn Txn(const std::vector<std::pair<std::string, int64_t>>& compares,
                      const std::vector<std::pair<std::string, std::string>>& puts,
                      std::vector<std::string> deletes = {}) {
  store::Txn txn{.deletes = std::move(deletes)};
  for (const auto& [key, revision] : compares) {
    txn.compares.push_back({key, store::Revision{revision}});
  }
  for (const auto& [key, value] : puts) txn.puts.push_back({.key = key, .value = value});
  return txn;
}

inline store::Txn Put(const std::string& key, const std::string& value) {
  return Txn({}, {{key, value}});
}
inline store::Txn Create(const std::string& key, const std::string& value) {
  return Txn({{key, 0}}, {{key, value}});
}
inline store::Txn Update(const std::string& key, int64_t revision, const std::string& value) {
  return Txn({{key, revision}}, {{key, value}});
}
inline store::Txn Delete(const std::string& key) { return Txn({}, {}, {key}); }
inline store::Txn Delete(const std::string& key, int64_t revision) {
  return Txn({{key, revision}}, {}, {key});
}

// Replies.

inline std::optional<store::Entry> Some(std::string key, std::string value, int64_t revision) {
  return store::Entry{
      .key = std::move(key), .value = std::move(value), .revision = store::Revision{revision}};
}
inline Reply Found(std::string key, std::string value, int64_t revision) {
  return Some(std::move(key), std::move(value), revision);
}
inline Reply Nothing() { return std::optional<store::Entry>(); }
inline Reply Page(std::vector<store::Entry> entries, int64_t at) {
  return store::ScanPage{.entries = std::move(entries), .at = store::Revision{at}};
}

inline Reply Committed(const std::vector<int64_t>& puts, const std::vector<int64_t>& deletes = {}) {
  store::TxnReply reply{.outcome = store::Outcome::kCommitted};
  for (const int64_t revision : puts) reply.puts.push_back(store::Revision{revision});
  for (const int64_t revision : deletes) reply.deletes.push_back(store::Revision{revision});
  return reply;
}
inline Reply Conflicting(std::vector<store::Conflict> conflicts) {
  return store::TxnReply{.outcome = store::Outcome::kConflict, .conflicts = std::move(conflicts)};
}
inline Reply Refused() { return store::TxnReply{.outcome = store::Outcome::kRefused}; }
inline Reply Unknown() { return store::TxnReply{.outcome = store::Outcome::kUnknown}; }

}  // namespace berth::linear
