// The values that are passed to a store and returned by it: keys with revisions, transactions,
// pages, events. They are plain data. store/engine.h has the functions that use them.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace berth::store {

/// The store's single increasing counter. Every put and every delete has a revision of its own,
/// also inside a transaction. Numbers may be left out, but no number is used twice and the counter
/// never goes back. A key that does not exist has revision 0.
struct Revision {
  int64_t value = 0;

  auto operator<=>(const Revision&) const = default;
  explicit operator bool() const { return value != 0; }
};

/// A key as it is at some revision.
struct Entry {
  std::string key = {};
  std::string value = {};
  Revision revision = {};  // Of the key's last put.
  /// The remaining time to live, rounded up. Set only if the request asked for it.
  std::optional<std::chrono::seconds> ttl = {};

  bool operator==(const Entry&) const = default;
};

/// A condition that holds if the last put of `key` has exactly this revision. With revision 0 it
/// holds if `key` does not exist.
struct Compare {
  std::string key = {};
  Revision revision = {};
};

struct Put {
  std::string key = {};
  std::string value = {};
  std::chrono::seconds ttl{0};  // The key is deleted this long after the put. 0 means never.
};

/// A transaction. If every compare holds, all puts and deletes happen at once; otherwise none
/// happens. Revisions rise in the order of `puts`, then of `deletes`. Deleting a key that does not
/// exist is not an event. A transaction may write a key only once. Compares may name any key, but
/// each key only once.
struct Txn {
  std::vector<Compare> compares = {};
  std::vector<Put> puts = {};
  std::vector<std::string> deletes = {};
};

/// A compare that did not hold.
struct Conflict {
  size_t compare = 0;                 // Index of the compare in Txn::compares.
  std::optional<Entry> current = {};  // The key as it is now. Empty if it does not exist.
};

enum class Outcome : uint8_t {
  kCommitted,  // Durable. Every read and watch that begins from now on sees it.
  kConflict,   // A compare did not hold. Nothing happened.
  kRefused,    // Nothing happened and nothing will happen. `error` says why.
  kUnknown,    // The engine closed before it learned whether the transaction happened.
};

struct TxnReply {
  Outcome outcome = Outcome::kUnknown;
  std::vector<Revision> puts = {};  // The revision of each put, if kCommitted.
  /// The revision of each delete, if kCommitted. 0 where the key did not exist.
  std::vector<Revision> deletes = {};
  std::vector<Conflict> conflicts = {};  // Every compare that did not hold, if kConflict.
  base::Error error = {};                // The reason, if kRefused or kUnknown.
};

struct ScanRequest {
  std::string prefix = {};
  std::string after = {};  // Continues after this key. Empty means from the beginning.
  Revision at = {};        // Reads the state right after this revision. 0 means the present.
  size_t limit = 1000;     // Entries in a page: at least 1, at most kMaxPageEntries.
  bool keys_only = false;
  /// Whether entries have their remaining time to live, counted from now also for past states.
  /// Costs extra on etcd.
  bool with_ttl = false;
};

/// A page of a scan. It may hold fewer entries than asked for (kMaxPageBytes) although `more`
/// follow. It then holds at least one.
struct ScanPage {
  std::vector<Entry> entries = {};  // In order of keys, as bytes.
  bool more = false;
  Revision at = {};  // For the next page's ScanRequest::at.
};

struct Event {
  enum class Type : uint8_t { kPut, kDelete };

  Type type = Type::kPut;
  std::string key = {};
  std::string value = {};  // Empty for a delete.
  Revision revision = {};
  std::optional<Entry> previous = {};  // The key's state before, unless that is compacted by now.
};

using EventPtr = std::shared_ptr<const Event>;

struct WatchBatch {
  std::vector<EventPtr> events = {};  // In order of revisions.
  Revision progress = {};             // Every event up to here has been handed out.
};

struct HistoryRequest {
  std::string prefix = {};
  Revision after = {};  // Only events with higher revisions,
  Revision upto = {};   // and none above this one, which the store has reached.
  size_t max = 1000;    // The most events to return, at least 1.
};

/// Whether the engine takes writes, and if not, why. For readiness probes and for people.
struct Health {
  bool writable = true;
  std::string why = {};
};

template <typename T>
using Done = std::function<void(base::Result<T>)>;

// Limits, the same for every engine so that state can be moved between them.
inline constexpr size_t kMaxKeyBytes = 1024;
inline constexpr size_t kMaxPuts = 2001;
inline constexpr size_t kMaxDeletes = 2047;
inline constexpr size_t kMaxCompares = 4096;
/// Bounds the sum of keys, values, and kTxnItemBytes for each compare, put and delete. Below etcd's
/// 1.5 MiB.
inline constexpr size_t kMaxTxnBytes = 1'400'000;
inline constexpr size_t kTxnItemBytes = 64;
/// A hundred years. Longer ones overflow clocks, and etcd refuses more than about 285 years.
inline constexpr std::chrono::seconds kMaxTtl{3'155'760'000};
inline constexpr size_t kMaxPageEntries = 10'000;
inline constexpr size_t kMaxPageBytes = size_t{8} << 20;

}  // namespace berth::store
