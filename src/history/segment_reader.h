// Reads one segment of the history, entry by entry, up to its end or to the first damaged byte. Any
// bytes may be given.
//
//   file   = "berth history 1\n" header-block block*
//   block  = u32 size, u32 checksum, payload       little-endian; size counts the payload
//   header = number, start, seen until, revision   the payload of the first block
//   others = entry*                                (`entry.h`) whole entries
//
// The checksum is the CRC-32C of the segment's number, the block's offset, its size and its
// payload. So a block that is misplaced, or left over from another file, is damaged. A segment
// begins with a checkpoint of everything that was held at its start, so it can be read without the
// segments before it.
//
// Threads: one at a time. A writer may append to the file meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "history/entry.h"

namespace berth::history {

inline constexpr std::string_view kSegmentMagic = "berth history 1\n";
inline constexpr size_t kBlockHeaderBytes = 8;
inline constexpr size_t kMaxBlockBytes = size_t{256} << 10;

struct SegmentHeader {
  uint64_t number = 0;
  Millis start = 0;
  /// Up to when the changes were known when the segment began. Nullopt if nothing was known.
  std::optional<Millis> seen = {};
  int64_t revision = 0;
};

/// Returns the checksum of a block.
uint32_t BlockChecksum(uint64_t segment, uint64_t offset, std::string_view payload);
/// Returns the payload of the first block.
std::string EncodeHeader(const SegmentHeader& header);
std::optional<SegmentHeader> DecodeHeader(std::string_view payload);

/// Reads bytes from an offset on. Returns how many were read, less than asked for only at the end.
using ReadAt = std::function<base::Result<size_t>(uint64_t offset, std::span<char> into)>;

class SegmentReader {
 public:
  /// Opens a file. Fails if it cannot be read, or if its beginning is damaged. The error names the
  /// file.
  static base::Result<SegmentReader> OpenFile(const std::string& path, uint64_t number);
  static base::Result<SegmentReader> Open(ReadAt read, uint64_t number);

  const SegmentHeader& header() const { return header_; }

  /// Reads the next entry. Returns false at the end, which is the end of the file or of what can be
  /// read of it.
  bool Next(Entry& entry);

  Owner OwnerOf(uint32_t number) const { return entries_->owners().Get(number); }
  const EntryReader& entries() const { return *entries_; }

  /// Returns how many bytes of the file are whole blocks. Valid after the end.
  uint64_t good_bytes() const { return offset_; }
  /// Returns whether bytes follow that are no whole block. Valid after the end.
  bool damaged() const { return damaged_; }
  /// Returns whether a readable block follows the first damaged byte, so that this is not just an
  /// unfinished write. Looks at a bounded number of bytes. Valid after the end.
  bool HasBlocksAfterDamage();

 private:
  SegmentReader(ReadAt read, uint64_t number) : read_(std::move(read)), number_(number) {}

  enum class Found { kBlock, kEnd, kDamage };
  Found ReadBlock(uint64_t offset, std::string& payload);
  base::Result<void> ReadStart();

  ReadAt read_;
  uint64_t number_;
  SegmentHeader header_;
  std::unique_ptr<EntryReader> entries_;
  std::string block_;
  std::optional<ByteReader> rest_;
  uint64_t offset_ = 0;  ///< Of the next block.
  bool damaged_ = false;
  bool over_ = false;
};

}  // namespace berth::history
