// The layout of the store in RocksDB: the meaning of its keys and values, byte by byte.
//
// There are four column families. Numbers in keys are 8 bytes, big-endian, so that bytes sort as
// numbers do. `varint` is LEB128. NUL ends a key because no key contains one. So a key sorts before
// every longer key that begins with it, whatever follows.
//
//   data     key NUL ~revision        -> op varint(deadline) value
//            Every version of every key, newest first (the bits of the revision are inverted). A
//            delete is a version without a value. `deadline` is the time at which the key is to be
//            deleted, in milliseconds since 1970. 0 means never.
//   log      first revision           -> { op varint(previous) varint(length of key) key }
//            One record per commit group with its events, whose revisions are `first`, `first` + 1
//            and so on. `previous` is the revision of the put that the event replaced. 0 means
//            that the key did not exist.
//   expiry   deadline key             -> revision
//            One row for each live key that has a deadline, with the revision of its last put.
//   default  "format"                 -> "1"
//            "compacted"              -> revision
//            History up to this revision is given up.
//            "sample" time            -> varint(revision) varint(bytes) varint(keys)
//            The size of history at some time (milliseconds since 1970): the newest revision, the
//            bytes of history ever written until then, and the number of live keys.
//
// op is 1 (put) or 2 (delete).
//
// Example: a put of "/a" = "x" at revision 258, when its last put had revision 7:
//
//   data     2f 61 | 00 | ff ff ff ff ff ff fe fd  ->  01 | 00 | 78
//   log      00 00 00 00 00 00 01 02               ->  01 | 07 | 02 | 2f 61
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/types.h"

namespace berth::store::rocks {

inline constexpr std::string_view kDataFamily = "data";
inline constexpr std::string_view kLogFamily = "log";
inline constexpr std::string_view kExpiryFamily = "expiry";

inline constexpr std::string_view kFormatNote = "format";
inline constexpr std::string_view kFormat = "1";
inline constexpr std::string_view kCompactedNote = "compacted";
inline constexpr std::string_view kSamplePrefix = "sample";

enum class Op : uint8_t { kPut = 1, kDelete = 2 };

/// A number as it is stored in keys.
using Number = std::array<char, 8>;
Number EncodeNumber(uint64_t number);
std::optional<uint64_t> DecodeNumber(std::string_view bytes);

inline std::string_view View(const Number& number) { return {number.data(), number.size()}; }
inline Number EncodeRevision(Revision revision) {
  return EncodeNumber(static_cast<uint64_t>(revision.value));
}
std::optional<Revision> DecodeRevision(std::string_view bytes);

/// The bytes that follow the user's key in a data key.
using DataSuffix = std::array<char, 9>;
DataSuffix EncodeDataSuffix(Revision revision);

std::string DataKey(std::string_view key, Revision revision);

struct VersionName {
  std::string_view key;
  Revision revision = {};
};
std::optional<VersionName> DecodeDataKey(std::string_view bytes);

struct Version {
  Op op = Op::kPut;
  int64_t deadline = 0;
  std::string_view value = {};
};
/// Appends the bytes that precede the value.
void AppendVersionHead(std::string& out, Op op, int64_t deadline);
std::optional<Version> DecodeVersion(std::string_view bytes);

struct LogEvent {
  Op op = Op::kPut;
  Revision previous = {};
  std::string_view key = {};
};
void AppendLogEvent(std::string& out, const LogEvent& event);

/// Reads the events of a log record one by one.
class LogRecord {
 public:
  /// `bytes` must outlive the record.
  LogRecord(Revision first, std::string_view bytes) : next_(first), rest_(bytes) {}

  bool AtEnd() const { return rest_.empty(); }
  /// Returns the revision of the event that Take returns next.
  Revision NextRevision() const { return next_; }
  /// Returns the next event. Returns nullopt if the record is malformed.
  std::optional<LogEvent> Take();

 private:
  Revision next_;
  std::string_view rest_;
};

/// A row of the expiry family.
struct Deadline {
  int64_t at = 0;
  std::string_view key = {};
};
std::string ExpiryKey(const Deadline& deadline);
std::optional<Deadline> DecodeExpiryKey(std::string_view bytes);

struct Sample {
  int64_t time = 0;
  Revision revision = {};
  uint64_t bytes = 0;
  uint64_t keys = 0;

  bool operator==(const Sample&) const = default;
};
std::string SampleKey(int64_t time);
std::string EncodeSample(const Sample& sample);
std::optional<Sample> DecodeSample(std::string_view key, std::string_view value);

}  // namespace berth::store::rocks
