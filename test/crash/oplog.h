// The report of a writer to the test that watches it, one line per item, written before the call
// that may be its last: what it found when it opened the store, what it attempts, what the replies
// were. Lines are appended to a file by single writes, so that none is lost if the writer is
// killed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "store/types.h"

namespace crash {

inline constexpr std::string_view kPrefix = "/registry/crash/";

/// Identifies an attempt. Its values carry it.
using OpId = uint64_t;

/// Returns the value that an attempt puts into a key. It is unique and can be computed again.
std::string ValueOf(OpId op, std::string_view key, size_t size);
/// Values are no shorter than this.
inline constexpr size_t kMinValue = 48;

/// A value as it was read: the attempt that it names, and a checksum of all of it.
struct Print {
  OpId op = 0;
  size_t size = 0;
  uint32_t crc = 0;

  bool operator==(const Print&) const = default;
};
Print PrintOf(std::string_view value);

struct Attempt {
  struct Put {
    std::string key;
    size_t size = 0;
  };

  OpId op = 0;
  std::vector<berth::store::Compare> compares;
  std::vector<Put> puts;
  std::vector<std::string> deletes;
};

struct Reply {
  berth::store::Outcome outcome = berth::store::Outcome::kUnknown;
  std::vector<int64_t> puts;     // If kCommitted.
  std::vector<int64_t> deletes;  // If kCommitted.
  /// If kConflict: what was seen, with revision 0 for keys that did not exist.
  std::vector<berth::store::Compare> seen;
};

struct FoundKey {
  int64_t revision = 0;
  Print print;

  bool operator==(const FoundKey&) const = default;
};
using FoundKeys = std::map<std::string, FoundKey>;

struct FoundEvent {
  bool is_put = false;
  std::string key;
  int64_t revision = 0;
  Print print;

  bool operator==(const FoundEvent&) const = default;
};

/// Everything a writer has reported.
struct OpLog {
  std::string error;  // Why it could not continue; empty if it did.
  bool ready = false;
  int64_t current = 0;  // The revision it found.
  FoundKeys keys;       // The state it found.
  FoundKeys old_keys;   // The state at the revision it asked for, as the store reports it.
  std::vector<FoundEvent> events;  // The events since then.
  std::vector<Attempt> attempts;
  std::map<OpId, Reply> replies;
  bool idle = false;
  std::vector<std::string> faults;   // What libfaultfs.so did.
  size_t committed_after_fault = 0;  // Commits acknowledged after the first fault.
};

/// Parses a report. A line that is not understood becomes an error of the log.
OpLog ParseOpLog(std::string_view text);

/// Writes a report. Thread-safe: lines do not mix.
class OpLogWriter {
 public:
  /// Appends to the file. Ends the process if that fails, because the test must not miss anything.
  explicit OpLogWriter(const std::string& path);
  ~OpLogWriter();
  OpLogWriter(const OpLogWriter&) = delete;
  OpLogWriter& operator=(const OpLogWriter&) = delete;

  void Key(const berth::store::Entry& entry, bool old);
  void Event(const berth::store::Event& event);
  void Ready(berth::store::Revision current);
  void Attempting(const Attempt& attempt);
  void Replied(OpId op, const berth::store::Txn& txn, const berth::store::TxnReply& reply);
  /// Reports that every attempt has a reply and that no more attempts follow.
  void Idle();
  void Error(std::string_view what);

 private:
  void Line(const std::string& line);

  const int fd_;
};

}  // namespace crash
