#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "base/go_text.h"
#include "store/check.h"
#include "store/snapshot_file.h"
#include "store/snapshot_file_format.h"

namespace berth::store {
namespace {

using base::Reason;

/// A time in the year 2255, whose nanoseconds still fit into a WallTime.
constexpr uint64_t kLatestMillis = 9'000'000'000'000;
constexpr size_t kSumBytes = std::tuple_size_v<Sha256Sum>;

tl::unexpected<base::Error> Damaged(uint64_t offset, std::string_view what) {
  return base::Fail(Reason::kInvalid, fmt::format("damaged at byte {}: {}", offset, what));
}

/// Reads bytes and keeps the sum of all of them.
class Input {
 public:
  explicit Input(const ByteSource& source) : source_(source) {}

  uint64_t offset() const { return offset_; }

  /// Returns up to `size` bytes, and fewer only at the end.
  base::Result<std::string> TakeSome(size_t size) {
    std::string bytes(size, '\0');
    size_t filled = 0;
    while (filled < size) {
      const auto got = source_(bytes.data() + filled, size - filled);
      if (!got) return tl::unexpected(got.error());
      if (*got == 0) break;
      filled += *got;
    }
    bytes.resize(filled);
    offset_ += filled;
    sum_.Add(bytes);
    return bytes;
  }

  base::Result<std::string> Take(size_t size) {
    auto bytes = TakeSome(size);
    if (bytes && bytes->size() < size) {
      return Damaged(offset_, "the file ends here, before it is complete");
    }
    return bytes;
  }

  base::Result<uint64_t> TakeNumber(size_t size) { return Take(size).map(NumberOf); }

  /// Reads a sum and checks it against the bytes taken before it. `from` is the offset of the part
  /// that the sum ends.
  base::Result<void> CheckSum(uint64_t from, std::string_view part) {
    const Sha256Sum wanted = sum_.Sum();
    const auto found = Take(kSumBytes);
    if (!found) return tl::unexpected(found.error());
    if (std::ranges::equal(*found, wanted, {},
                           [](char c) { return static_cast<unsigned char>(c); }))
      return {};
    return Damaged(from, fmt::format("the checksum of the {} that begins here is wrong", part));
  }

 private:
  const ByteSource& source_;
  Sha256 sum_;
  uint64_t offset_ = 0;
};

/// The entries of one block. The block's sum was right, so an error in an entry is the writer's.
class BlockReader {
 public:
  BlockReader(std::string_view bytes, uint64_t offset) : bytes_(bytes), offset_(offset) {}

  bool AtEnd() const { return bytes_.empty(); }

  base::Result<Entry> Next(std::string_view previous_key) {
    Entry entry;
    const auto key = TakeSized(2);
    const auto value = key ? TakeSized(4) : std::nullopt;
    const auto numbers = value ? TakeBytes(16) : std::nullopt;
    if (!numbers) return Damaged(offset_, "an entry reaches beyond its block");
    entry.key = *key;
    entry.value = *value;
    entry.revision.value = static_cast<int64_t>(NumberOf(numbers->substr(0, 8)));
    const auto seconds = static_cast<int64_t>(NumberOf(numbers->substr(8)));
    if (const auto bad = CheckKey(entry.key)) return Damaged(offset_, bad->message);
    if (entry.key <= previous_key) return Damaged(offset_, "the keys are not in order");
    if (entry.revision.value <= 0 || seconds < 0) return Damaged(offset_, "a number is negative");
    if (seconds > 0) entry.ttl = std::chrono::seconds(seconds);
    return entry;
  }

 private:
  std::optional<std::string_view> TakeBytes(uint64_t size) {
    if (size > bytes_.size()) return std::nullopt;
    const std::string_view taken = bytes_.substr(0, static_cast<size_t>(size));
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  std::optional<std::string_view> TakeSized(size_t size_bytes) {
    const auto size = TakeBytes(size_bytes);
    return size ? TakeBytes(NumberOf(*size)) : std::nullopt;
  }

  std::string_view bytes_;
  uint64_t offset_;
};

class Reader {
 public:
  Reader(const ByteSource& source, const EntrySink& sink) : input_(source), sink_(sink) {}

  base::Result<SnapshotFileInfo> Read() {
    if (auto header = ReadHeader(); !header) return tl::unexpected(header.error());
    for (;;) {
      const uint64_t begin = input_.offset();
      const auto mark = input_.Take(1);
      if (!mark) return tl::unexpected(mark.error());
      if (mark->front() == kTrailerMark) return ReadTrailer(begin);
      if (mark->front() != kBlockMark) return Damaged(begin, "neither a block nor the end");
      if (auto block = ReadBlock(begin); !block) return tl::unexpected(block.error());
    }
  }

 private:
  base::Result<void> ReadHeader() {
    const auto magic = input_.TakeSome(kSnapshotMagic.size());
    if (!magic) return tl::unexpected(magic.error());
    if (*magic != kSnapshotMagic) return base::Fail(Reason::kInvalid, "is not a berth snapshot");
    const auto format = input_.TakeNumber(4);
    if (!format) return tl::unexpected(format.error());
    if (*format != kSnapshotFormat) {
      return base::Fail(Reason::kInvalid,
                        fmt::format("is a snapshot of format {}; this berth reads format {}",
                                    *format, kSnapshotFormat));
    }
    const auto created = input_.TakeNumber(8);
    const auto revision = input_.TakeNumber(8);
    const auto size = input_.TakeNumber(2);
    if (!size) return tl::unexpected(size.error());
    if (*size > kMaxSourceBytes) return Damaged(input_.offset() - 2, "the source is too long");
    const auto source = input_.Take(static_cast<size_t>(*size));
    if (!source) return tl::unexpected(source.error());
    if (auto sum = input_.CheckSum(0, "header"); !sum) return sum;
    if (*created > kLatestMillis || *revision > INT64_MAX)
      return Damaged(0, "a number is too large");
    info_.created = base::WallTime(std::chrono::milliseconds(*created));
    info_.revision.value = static_cast<int64_t>(*revision);
    info_.source = *source;
    return {};
  }

  base::Result<void> ReadBlock(uint64_t begin) {
    const auto size = input_.TakeNumber(4);
    if (!size) return tl::unexpected(size.error());
    if (*size == 0 || *size > kMaxBlockBytes) {
      return Damaged(begin, fmt::format("a block cannot have {} bytes", *size));
    }
    const auto bytes = input_.Take(static_cast<size_t>(*size));
    if (!bytes) return tl::unexpected(bytes.error());
    if (auto sum = input_.CheckSum(begin, "block"); !sum) return sum;
    BlockReader entries(*bytes, begin);
    while (!entries.AtEnd()) {
      auto entry = entries.Next(last_key_);
      if (!entry) return tl::unexpected(entry.error());
      summary_.Add(*entry);
      last_key_ = entry->key;
      if (!sink_) continue;
      if (auto taken = sink_(*std::move(entry)); !taken) return taken;
    }
    return {};
  }

  base::Result<SnapshotFileInfo> ReadTrailer(uint64_t begin) {
    const auto numbers = input_.Take(24);
    if (!numbers) return tl::unexpected(numbers.error());
    const auto checksum = input_.Take(kSumBytes);
    if (!checksum) return tl::unexpected(checksum.error());
    if (auto sum = input_.CheckSum(begin, "end"); !sum) return tl::unexpected(sum.error());
    info_.keys = NumberOf(std::string_view(*numbers).substr(0, 8));
    info_.expiring = NumberOf(std::string_view(*numbers).substr(8, 8));
    info_.bytes = NumberOf(std::string_view(*numbers).substr(16));
    std::ranges::copy(*checksum, info_.checksum.begin());
    info_.file_bytes = input_.offset();
    if (info_.keys != summary_.keys() || info_.expiring != summary_.expiring() ||
        info_.bytes != summary_.bytes() || info_.checksum != summary_.Checksum()) {
      return Damaged(begin, "the counts at the end are not those of the entries");
    }
    const auto rest = input_.TakeSome(1);
    if (!rest) return tl::unexpected(rest.error());
    if (!rest->empty()) return Damaged(info_.file_bytes, "there is something after the end");
    return info_;
  }

  Input input_;
  const EntrySink& sink_;
  StateSummary summary_;
  SnapshotFileInfo info_;
  std::string last_key_;
};

base::Error SystemError(int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return {
      .reason = missing ? Reason::kNotFound : Reason::kInternalError,
      .message = "cannot read it: " + std::error_code(error, std::generic_category()).message()};
}

}  // namespace

base::Result<SnapshotFileInfo> ReadSnapshot(const ByteSource& source, const EntrySink& sink) {
  return Reader(source, sink).Read();
}

base::Result<SnapshotFileInfo> ReadSnapshotFile(const std::string& path, const EntrySink& sink) {
  const auto named = [&](base::Error error) {
    error.message = fmt::format("{}: {}", base::GoQuoted(path), error.message);
    return error;
  };
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return tl::unexpected(named(SystemError(errno)));
  const ByteSource source = [&](char* into, size_t room) -> base::Result<size_t> {
    for (;;) {
      const ssize_t got = read(descriptor, into, room);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return tl::unexpected(SystemError(errno));
    }
  };
  std::optional<base::Error> refused;  // The sink's own error, which is not about the file.
  const EntrySink guarded = [&](Entry entry) -> base::Result<void> {
    auto taken = sink(std::move(entry));
    if (!taken) refused = taken.error();
    return taken;
  };
  auto info = ReadSnapshot(source, sink ? guarded : EntrySink());
  close(descriptor);
  if (info) return info;
  return tl::unexpected(refused ? *refused : named(info.error()));
}

}  // namespace berth::store
