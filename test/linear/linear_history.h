// The requests of clients to a store and its replies, with their order in time. This is the input
// of the linearizability check (linear/checker.h).
//
// A history begins with an empty prefix. Its puts have distinct values, so that a value that is
// read identifies its put. The revisions in compares come from earlier replies of the same history.
// linear/workload.h records such histories.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "store/types.h"

namespace berth::linear {

struct GetRequest {
  std::string key = {};
};

/// All keys of a prefix as they are now. Several pages count as one operation.
struct SnapshotRequest {
  std::string prefix = {};
};

using Request = std::variant<store::Txn, GetRequest, SnapshotRequest>;

/// A failed read. It shows nothing about the store.
struct ReadFailed {
  base::Error error = {};
};

struct NoReply {};

using Reply = std::variant<NoReply, ReadFailed, store::TxnReply, std::optional<store::Entry>,
                           store::ScanPage>;

inline constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

struct Operation {
  size_t client = 0;
  /// Stamps. Every call and every return has its own, and a later one is higher.
  uint64_t called = 0;
  uint64_t returned = kNever;
  Request request = {};
  Reply reply = NoReply{};
};

struct History {
  std::vector<Operation> operations = {};  // In the order of calls.
};

/// Returns whether the operation is a transaction that may have happened at any time after its
/// call, or never: it got no reply, or the reply was kUnknown.
bool IsOpen(const Operation& operation);

/// Describes an operation in one line: "17..20 client 3: if a@5 put b=v7 -> committed b@9".
/// `number` is its index in the history.
std::string Describe(const Operation& operation, size_t number);

/// Returns a key as messages show it: without the prefix that all keys share.
std::string_view ShortName(std::string_view key);

/// What a history consists of, or the sum of many.
struct Counts {
  size_t histories = 0;
  size_t operations = 0;
  size_t committed = 0;
  size_t conflicts = 0;
  size_t refused = 0;
  size_t unknown = 0;  // kUnknown, or no reply.
  size_t reads = 0;
  size_t failed_reads = 0;
  uint64_t longest_search = 0;  // Configurations examined by the checker, in the worst history.

  Counts& operator+=(const Counts& other);
};
Counts Count(const History& history);
std::string Describe(const Counts& counts);

/// Records operations of any number of threads. Every function may be called from any thread.
class Recorder {
 public:
  /// Must be called right before the store is called. Returns the operation's number.
  size_t Call(size_t client, Request request) EXCLUDES(mutex_);

  /// Must be called as soon as the store has replied. A return after Take is left out.
  void Return(size_t operation, Reply reply) EXCLUDES(mutex_);

  /// Ends the recording and returns the history. Operations that have not returned have no reply.
  History Take() EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  uint64_t next_stamp_ GUARDED_BY(mutex_) = 1;
  bool taken_ GUARDED_BY(mutex_) = false;
  History history_ GUARDED_BY(mutex_);
};

}  // namespace berth::linear
