// What clients asked a store and what it answered, with the order in time: the input of the
// linearizability check (linear/checker.h).
//
// A history begins with an empty prefix. Its puts have distinct values, so that a value that is
// read names the put it came from; the revisions in compares come from earlier replies of the same
// history. linear/workload.h records histories that are so.
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

/// All keys of a prefix as they are now; several pages count as one operation.
struct SnapshotRequest {
  std::string prefix = {};
};

using Request = std::variant<store::Txn, GetRequest, SnapshotRequest>;

/// A read that failed says nothing about the store.
struct ReadFailed {
  base::Error error = {};
};

struct NoReply {};

using Reply = std::variant<NoReply, ReadFailed, store::TxnReply, std::optional<store::Entry>,
                           store::ScanPage>;

inline constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

struct Operation {
  size_t client = 0;
  uint64_t called = 0;         // Stamps: every call and every return has one of its own, and one
  uint64_t returned = kNever;  // that happened later has a higher one.
  Request request = {};
  Reply reply = NoReply{};
};

struct History {
  std::vector<Operation> operations = {};  // In order of calls.
};

/// A transaction that may have happened at any time after its call, or never: it was not answered,
/// or with kUnknown.
bool IsOpen(const Operation& operation);

/// One line: "17..20 client 3: if a@5 put b=v7 -> committed b@9". `number` is its place in the
/// history.
std::string Describe(const Operation& operation, size_t number);

/// A key as messages have it: without the prefix that all of them share.
std::string_view ShortName(std::string_view key);

/// What a history is made of, and, added up, many of them.
struct Counts {
  size_t histories = 0;
  size_t operations = 0;
  size_t committed = 0;
  size_t conflicts = 0;
  size_t refused = 0;
  size_t unknown = 0;  // kUnknown or never answered.
  size_t reads = 0;
  size_t failed_reads = 0;
  uint64_t longest_search = 0;  // Configurations the checker looked at, in the worst history.

  Counts& operator+=(const Counts& other);
};
Counts Count(const History& history);
std::string Describe(const Counts& counts);

/// Records operations of any number of threads. Every function may be called from any thread.
class Recorder {
 public:
  /// To be called right before the store is; returns the operation's number.
  size_t Call(size_t client, Request request) EXCLUDES(mutex_);

  /// To be called as soon as the store has replied. What comes after Take is left out.
  void Return(size_t operation, Reply reply) EXCLUDES(mutex_);

  /// The history so far; what has not returned is left without a reply. Ends the recording.
  History Take() EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  uint64_t next_stamp_ GUARDED_BY(mutex_) = 1;
  bool taken_ GUARDED_BY(mutex_) = false;
  History history_ GUARDED_BY(mutex_);
};

}  // namespace berth::linear
