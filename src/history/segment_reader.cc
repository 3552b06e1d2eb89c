#include "history/segment_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/crc32c.h"
#include "base/fd.h"

namespace berth::history {
namespace {

using base::Reason;
using base::Result;

constexpr uint64_t kMaxDamageScan = uint64_t{4} << 20;

uint32_t Little32(std::string_view bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) {
    number |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return number;
}

Result<size_t> ReadFully(int fd, uint64_t offset, std::span<char> into) {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t n =
        pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::Fail(Reason::kInternalError, std::generic_category().message(errno));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

}  // namespace

uint32_t BlockChecksum(uint64_t segment, uint64_t offset, std::string_view payload) {
  std::string place;
  for (const uint64_t number : {segment, offset, uint64_t{payload.size()}}) {
    for (unsigned shift = 0; shift < 64; shift += 8) place += static_cast<char>(number >> shift);
  }
  return base::Crc32c(payload, base::Crc32c(place));
}

std::string EncodeHeader(const SegmentHeader& header) {
  std::string payload;
  ByteWriter bytes(payload);
  bytes.Unsigned(header.number);
  bytes.Unsigned(static_cast<uint64_t>(header.start));
  bytes.Unsigned(header.seen ? static_cast<uint64_t>(*header.seen) + 1 : 0);
  bytes.Signed(header.revision);
  return payload;
}

std::optional<SegmentHeader> DecodeHeader(std::string_view payload) {
  constexpr uint64_t kLatestStart = INT64_MAX / 1'000'000;
  ByteReader bytes(payload);
  SegmentHeader header;
  header.number = bytes.Unsigned64();
  const uint64_t start = bytes.Unsigned64();
  const uint64_t seen = bytes.Unsigned64();
  header.revision = bytes.Signed();
  if (bytes.failed() || !bytes.empty() || start > kLatestStart || seen > kLatestStart) {
    return std::nullopt;
  }
  header.start = static_cast<Millis>(start);
  if (seen > 0) header.seen = static_cast<Millis>(seen - 1);
  return header;
}

Result<SegmentReader> SegmentReader::OpenFile(const std::string& path, uint64_t number) {
  const auto file = std::make_shared<base::Fd>(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file->Get() < 0) {
    const Reason reason = errno == ENOENT ? Reason::kNotFound : Reason::kInternalError;
    return base::Fail(reason, fmt::format("{}: {}", path, std::generic_category().message(errno)));
  }
  auto reader = Open([file](uint64_t offset,
                            std::span<char> into) { return ReadFully(file->Get(), offset, into); },
                     number);
  if (!reader) reader.error().message = fmt::format("{}: {}", path, reader.error().message);
  return reader;
}

Result<SegmentReader> SegmentReader::Open(ReadAt read, uint64_t number) {
  SegmentReader reader(std::move(read), number);
  if (auto started = reader.ReadStart(); !started) return tl::unexpected(started.error());
  return reader;
}

Result<void> SegmentReader::ReadStart() {
  std::string magic(kSegmentMagic.size(), '\0');
  const auto size = read_(0, magic);
  if (!size) return tl::unexpected(size.error());
  if (*size < magic.size() || magic != kSegmentMagic) {
    return base::Fail(Reason::kInvalid, "it is not a history of this version of berth");
  }
  std::string payload;
  std::optional<SegmentHeader> header;
  if (ReadBlock(kSegmentMagic.size(), payload) == Found::kBlock) header = DecodeHeader(payload);
  if (!header || header->number != number_) {
    return base::Fail(Reason::kInvalid, "its beginning is damaged");
  }
  header_ = *header;
  offset_ = kSegmentMagic.size() + kBlockHeaderBytes + payload.size();
  entries_ = std::make_unique<EntryReader>(header_.start);
  return {};
}

SegmentReader::Found SegmentReader::ReadBlock(uint64_t offset, std::string& payload) {
  std::string head(kBlockHeaderBytes, '\0');
  const auto head_size = read_(offset, head);
  if (!head_size) return Found::kDamage;
  if (*head_size == 0) return Found::kEnd;
  if (*head_size < head.size()) return Found::kDamage;
  const uint32_t size = Little32(head);
  if (size == 0 || size > kMaxBlockBytes) return Found::kDamage;
  payload.resize(size);
  const auto read = read_(offset + kBlockHeaderBytes, payload);
  if (!read || *read < size) return Found::kDamage;
  const bool whole =
      BlockChecksum(number_, offset, payload) == Little32(std::string_view(head).substr(4));
  return whole ? Found::kBlock : Found::kDamage;
}

bool SegmentReader::Next(Entry& entry) {
  if (over_) return false;
  if (!rest_ || rest_->empty()) {
    const uint64_t begin = rest_ ? offset_ + kBlockHeaderBytes + block_.size() : offset_;
    rest_.reset();
    offset_ = begin;
    const Found found = ReadBlock(offset_, block_);
    if (found != Found::kBlock) {
      over_ = true;
      damaged_ = found == Found::kDamage;
      return false;
    }
    rest_.emplace(block_);
  }
  if (entries_->Read(*rest_, entry)) return true;
  // The checksum is right, so another version has written this. It cannot be continued.
  over_ = damaged_ = true;
  return false;
}

bool SegmentReader::HasBlocksAfterDamage() {
  if (!damaged_) return false;
  std::string tail(kMaxDamageScan, '\0');
  const auto size = read_(offset_, tail);
  if (!size) return true;  // A disk error is not an unfinished write.
  std::string payload;
  for (uint64_t at = 0; at + kBlockHeaderBytes < *size; ++at) {
    const uint32_t length = Little32(std::string_view(tail).substr(at));
    if (length == 0 || length > kMaxBlockBytes || at + kBlockHeaderBytes + length > *size) continue;
    if (ReadBlock(offset_ + at, payload) == Found::kBlock) return true;
  }
  return false;
}

}  // namespace berth::history
