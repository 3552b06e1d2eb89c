// Appends entries to one segment of the history (`segment_reader.h` has the format).
//
// A new segment is written under another name until its checkpoint is complete and synced, so a
// segment that has its own name has a whole checkpoint. Entries collect in memory until Flush gives
// them to the system, and Sync makes sure that the disk has them.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "history/entry.h"
#include "history/segment_reader.h"

namespace berth::history {

class SegmentWriter {
 public:
  /// Begins a new segment, whose path will be `path`.
  static base::Result<std::unique_ptr<SegmentWriter>> Create(const std::string& path,
                                                             const SegmentHeader& header);
  /// Continues a segment after `bytes`, and cuts off what follows. `state` is that of its reader at
  /// this place.
  static base::Result<std::unique_ptr<SegmentWriter>> Continue(const std::string& path,
                                                               uint64_t number, uint64_t bytes,
                                                               CodingState state);

  /// Ends the checkpoint of a new segment, and gives the segment its name.
  base::Result<void> Publish();

  /// Adds an entry, as EntryWriter does. Fails only if it has to flush.
  base::Result<void> Append(const Entry& entry);
  base::Result<void> AppendWithOwner(const Entry& entry, const Owner& owner, uint32_t& number);

  base::Result<void> Flush();
  /// Flushes, and waits for the disk.
  base::Result<void> Sync();

  uint64_t number() const { return number_; }
  /// Returns the size of the segment with everything that was appended.
  uint64_t bytes() const { return written_ + buffer_.size(); }
  bool needs_flush() const { return !buffer_.empty(); }
  bool needs_sync() const { return needs_flush() || unsynced_; }

 private:
  SegmentWriter(std::string path, uint64_t number, base::Fd file, uint64_t written,
                CodingState state);

  base::Result<void> WriteOut(std::string_view bytes);
  base::Result<void> WriteBlock(std::string_view payload);
  base::Result<void> FlushIfLarge();
  base::Result<void> Failed(const char* what, const std::string& path) const;

  const std::string path_;
  const uint64_t number_;
  base::Fd file_;
  uint64_t written_;
  EntryWriter entries_;
  std::string buffer_;  ///< The payload of the next block.
  bool unsynced_ = false;
};

}  // namespace berth::history
