// The entries of a segment, and how they are written as bytes. An entry is written as the
// difference to the one before it, so that a change takes about ten bytes. Names are written once
// for each segment and then by number. Pure.
//
//   entry    = tag, fields
//   tag      = kind (3 bits), purpose (2 bits), origin (2 bits), approximate (1 bit)
//   taken    = time, [earliest], revision, value, owner
//   released = time, [earliest], revision, value, owner
//   held     = time, [earliest], value, owner             in a checkpoint: held since that time
//   seen     = time, revision                             all changes up to this time are known
//   listed   = time, revision                             a list ended here, and so did a gap
//   counts   = time, range, taken, withheld, usable
//   checked  =                                            the end of the checkpoint
//   time     = milliseconds since the last entry, of either sign in `seen` and `listed`; in a
//              checkpoint milliseconds before the segment began
//   earliest = milliseconds before the time, plus 1; 0 if nothing is known; only if approximate
//   revision = the difference to the last one
//   value    = XOR with the last value of the same pool
//   owner    = number; the next unused one is followed by namespace, name and uid
//   range    = number; the next unused one is followed by its text
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "alloc/pool_id.h"
#include "history/bytes.h"
#include "history/types.h"

namespace berth::history {

/// Milliseconds since 1970.
using Millis = int64_t;
Millis MillisOf(base::WallTime time);
base::WallTime TimeOf(Millis millis);

/// Longer names and uids are not kept. Kubernetes allows 253 characters.
inline constexpr size_t kMaxNameBytes = 1024;

enum class EntryKind : uint8_t { kTaken, kReleased, kHeld, kSeen, kListed, kCounts, kChecked };

struct Entry {
  EntryKind kind = EntryKind::kSeen;
  Millis time = 0;
  /// The earliest time, which is `time` if it is exact. Nullopt if nothing is known.
  std::optional<Millis> earliest = {};
  int64_t revision = 0;
  Held held = {};
  uint32_t owner = 0;  ///< The number of the owner in the segment.
  RangeCount counts = {};
};

/// Returns whether an entry proves that all changes up to its time are known. A change that was
/// seen as it happened does.
bool ProvesSeen(const Entry& entry);

/// The owners of a segment by number, in one block of memory.
class OwnerTable {
 public:
  uint32_t Add(const Owner& owner);
  Owner Get(uint32_t number) const;
  size_t size() const { return begins_.size(); }

 private:
  std::string text_;
  std::vector<size_t> begins_;
};

/// What an entry is the difference to. Writer and reader of a segment have the same at the same
/// place.
struct CodingState {
  Millis start = 0;  ///< When the segment began.
  Millis time = 0;
  int64_t revision = 0;
  alloc::PerPool<base::U128> values = {};
  uint32_t owners = 0;  ///< How many are numbered.
  std::vector<std::string> spaces = {};
  std::vector<std::string> ranges = {};
};

class EntryWriter {
 public:
  explicit EntryWriter(CodingState state);

  const CodingState& state() const { return state_; }

  /// Appends an entry without an owner, or with the number of one that is written already. The time
  /// must not be before that of the last entry.
  void Write(const Entry& entry, std::string& out);
  /// Appends an entry with a new owner. Returns the owner's number.
  uint32_t Write(Entry entry, const Owner& owner, std::string& out);

 private:
  void WriteFields(const Entry& entry, ByteWriter& bytes);
  void WriteOwner(const Owner& owner, ByteWriter& bytes);
  void WriteName(const std::string& name, std::vector<std::string>& names,
                 std::unordered_map<std::string, uint32_t>& numbers, ByteWriter& bytes);

  CodingState state_;
  std::unordered_map<std::string, uint32_t> space_numbers_;
  std::unordered_map<std::string, uint32_t> range_numbers_;
};

class EntryReader {
 public:
  explicit EntryReader(Millis start) { state_.start = state_.time = start; }

  const CodingState& state() const { return state_; }
  const OwnerTable& owners() const { return owners_; }

  /// Reads one entry. Returns false if the bytes make no sense.
  bool Read(ByteReader& bytes, Entry& entry);

 private:
  bool ReadValue(ByteReader& bytes, Entry& entry);
  bool ReadOwner(ByteReader& bytes, Entry& entry);
  bool ReadCounts(ByteReader& bytes, Entry& entry);
  std::optional<std::string> ReadName(ByteReader& bytes, std::vector<std::string>& names);

  CodingState state_;
  OwnerTable owners_;
};

}  // namespace berth::history
