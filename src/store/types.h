// The values that go into and come out of a store: keys with revisions, transactions, pages,
// events. Plain data; what may be done with it is in store/engine.h.
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

/// The store's single increasing counter. Every put and every delete has one of its own, also
/// inside a transaction; numbers may be left out, but none is ever used twice or goes back.
/// A key that does not exist has revision 0.
struct Revision {
  int64_t value = 0;

  auto operator<=>(const Revision&) const = default;
  explicit operator bool() const { return value != 0; }
};

/// A key as it is at some revision.
struct Entry {
  std::string key = {};
  std::string value = {};
  Revision revision = {};  // Of its last put.
  /// What is left of it; only when asked for, rounded up.
  std::optional<std::chrono::seconds> ttl = {};

  bool operator==(const Entry&) const = default;
};

/// Holds if the last put of `key` has exactly this revision; revision 0: if `key` does not exist.
struct Compare {
  std::string key = {};
  Revision revision = {};
};

struct Put {
  std::string key = {};
  std::string value = {};
  std::chrono::seconds ttl{0};  // The key is deleted this long after the put; 0: never.
};

/// If every compare holds, all puts and deletes happen at once, else none does. Revisions rise in
/// the order of `puts`, then of `deletes`. Deleting what does not exist is not an event. A key may
/// be written only once; compares may name any key, each once.
struct Txn {
  std::vector<Compare> compares = {};
  std::vector<Put> puts = {};
  std::vector<std::string> deletes = {};
};

/// A compare that did not hold.
struct Conflict {
  size_t compare = 0;                 // Its place in Txn::compares.
  std::optional<Entry> current = {};  // What is there instead; nothing: the key does not exist.
};

enum class Outcome : uint8_t {
  kCommitted,  // Durable, and seen by every read and watch that begins from now on.
  kConflict,   // A compare did not hold; nothing happened.
  kRefused,    // Nothing happened and nothing will: `error` says why.
  kUnknown,    // It happened or it did not, and the engine closed before it could find out.
};

struct TxnReply {
  Outcome outcome = Outcome::kUnknown;
  std::vector<Revision> puts = {};     // kCommitted: the revision of each.
  std::vector<Revision> deletes = {};  // kCommitted: likewise; 0 where there was nothing to delete.
  std::vector<Conflict> conflicts = {};  // kConflict: every compare that did not hold.
  base::Error error = {};                // kRefused, kUnknown.
};

struct ScanRequest {
  std::string prefix = {};
  std::string after = {};  // Continues behind this key; empty: from the beginning.
  Revision at = {};        // The state right after this revision; 0: as it is now.
  size_t limit = 1000;     // Entries in a page, at least 1; kMaxPageEntries at most.
  bool keys_only = false;
  bool with_ttl = false;  // Costs extra on etcd. Of past states it is what is left of it now.
};

/// A page may hold fewer entries than asked for (kMaxPageBytes) and still have `more` behind it;
/// it then holds at least one.
struct ScanPage {
  std::vector<Entry> entries = {};  // In order of keys, as bytes.
  bool more = false;
  Revision at = {};  // For the next page's ScanRequest::at.
};

struct Event {
  enum class Type : uint8_t { kPut, kDelete };

  Type type = Type::kPut;
  std::string key = {};
  std::string value = {};  // Of a put.
  Revision revision = {};
  std::optional<Entry> previous = {};  // What the key held before, unless that is compacted by now.
};

using EventPtr = std::shared_ptr<const Event>;

struct WatchBatch {
  std::vector<EventPtr> events = {};  // In order of revisions.
  Revision progress = {};             // Every event of the prefix up to here has been handed out.
};

struct WatchRequest {
  std::string prefix = {};
  Revision after = {};  // Events with higher revisions. Not reached yet: waits for it.
};

/// Whether writes are taken, and if not, why; for readiness probes and for people.
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
/// Keys, values, and kTxnItemBytes for each compare, put and delete. Below etcd's 1.5 MiB.
inline constexpr size_t kMaxTxnBytes = 1'400'000;
inline constexpr size_t kTxnItemBytes = 64;
/// A hundred years: longer ones overflow clocks, and etcd refuses them from about 285 on.
inline constexpr std::chrono::seconds kMaxTtl{3'155'760'000};
inline constexpr size_t kMaxPageEntries = 10'000;
inline constexpr size_t kMaxPageBytes = size_t{8} << 20;

}  // namespace berth::store
