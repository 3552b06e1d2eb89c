#include "store/rocks/log_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/crc32c.h"
#include "base/fd.h"

namespace berth::store::rocks {

namespace {

using base::Fd;

constexpr size_t kBlock = size_t{32} * 1024;
constexpr size_t kHeader = 7;
constexpr size_t kRecycledHeader = 11;

// ------------------------------------------------------------------------------------------------
// Checksums

uint8_t ByteAt(std::string_view bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }

uint32_t Fixed32(std::string_view bytes, size_t i) {
  return static_cast<uint32_t>(ByteAt(bytes, i)) |
         static_cast<uint32_t>(ByteAt(bytes, i + 1)) << 8 |
         static_cast<uint32_t>(ByteAt(bytes, i + 2)) << 16 |
         static_cast<uint32_t>(ByteAt(bytes, i + 3)) << 24;
}

/// Masks a checksum as RocksDB does, because a checksum of bytes that contain checksums is weak.
uint32_t Mask(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8U; }

// ------------------------------------------------------------------------------------------------
// One file

enum class Kind : uint8_t { kFull = 1, kFirst, kMiddle, kLast };

/// The bytes at some offset of a log: a record or fragment, filler, or damage.
struct Piece {
  enum class State : uint8_t { kReadable, kFiller, kBad };

  State state = State::kBad;
  size_t end = 0;  // The offset after the piece. Not set if it is bad.
  Kind kind = Kind::kFull;
  bool empty = false;
  std::optional<uint32_t> log_number = std::nullopt;
  std::string_view what = {};  // Why it is bad.
};

Piece Bad(std::string_view what) { return {.what = what}; }

bool AllZero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

Piece ReadPiece(std::string_view bytes, size_t offset) {
  const size_t block_end = std::min(bytes.size(), (offset / kBlock + 1) * kBlock);
  const std::string_view rest = bytes.substr(offset, block_end - offset);
  const bool whole_block = block_end % kBlock == 0;
  // In logs of recycled files a header is longer, so more filler may be left.
  if (whole_block && (rest.size() < kHeader || (rest.size() < kRecycledHeader && AllZero(rest)))) {
    return {.state = Piece::State::kFiller, .end = block_end};
  }
  if (rest.size() < kHeader) return Bad("record cut short");
  const size_t length = ByteAt(rest, 4) | static_cast<size_t>(ByteAt(rest, 5)) << 8;
  const unsigned type = ByteAt(rest, 6);
  if (AllZero(rest.substr(0, kHeader))) return Bad("zeroes where a record should be");
  const bool recycled = type >= 5 && type <= 8;
  const size_t size = (recycled ? kRecycledHeader : kHeader) + length;
  if (size > rest.size()) return Bad(whole_block ? "impossible length" : "record cut short");
  if (Mask(base::Crc32c(rest.substr(6, size - 6))) != Fixed32(rest, 0))
    return Bad("checksum mismatch");
  if (type == 0 || type > 8) return Bad("unknown record type");
  return {.state = Piece::State::kReadable,
          .end = offset + size,
          .kind = static_cast<Kind>(recycled ? type - 4 : type),
          .empty = length == 0,
          .log_number = recycled ? std::optional(Fixed32(rest, kHeader)) : std::nullopt,
          .what = {}};
}

/// Returns the offset of the next readable piece in the block of `offset`. Returns the end of the
/// block if there is no such piece.
size_t Resync(std::string_view bytes, size_t offset) {
  const size_t block_end = std::min(bytes.size(), ((offset - 1) / kBlock + 1) * kBlock);
  for (; offset + kHeader <= block_end; ++offset) {
    const unsigned type = ByteAt(bytes, offset + 6);
    if (type == 0 || type > 8) continue;
    if (ReadPiece(bytes, offset).state == Piece::State::kReadable) return offset;
  }
  return block_end;
}

class Scanner {
 public:
  explicit Scanner(std::string_view bytes) : bytes_(bytes) {}

  LogScan Run() {
    // No record is all zeroes, so there are no records after the last byte that is not zero.
    const size_t last = bytes_.find_last_not_of('\0');
    const size_t end = last == std::string_view::npos ? 0 : last + 1;
    size_t offset = 0;
    while (offset < end) {
      const Piece piece = ReadPiece(bytes_, offset);
      if (piece.state == Piece::State::kBad) {
        NoteBad(begun_.value_or(offset), piece.what);
        offset = Resync(bytes_, offset + 1);
        continue;
      }
      if (piece.state == Piece::State::kReadable) {
        if (IsLeftover(piece)) break;
        Take(piece, offset);
      }
      offset = piece.end;
    }
    if (begun_.has_value()) NoteBad(*begun_, "record cut short");
    return std::move(scan_);
  }

 private:
  void NoteBad(uint64_t offset, std::string_view what) {
    begun_.reset();
    if (scan_.bad_offset.has_value()) return;
    scan_.bad_offset = offset;
    scan_.what = what;
  }

  void Count() { ++(scan_.bad_offset.has_value() ? scan_.records_after : scan_.records); }

  /// Returns whether the piece belongs to an earlier log. In a recycled file, the earlier contents
  /// follow the end of the log.
  bool IsLeftover(const Piece& piece) {
    if (!piece.log_number.has_value()) return false;
    if (!log_number_.has_value()) log_number_ = piece.log_number;
    return log_number_ != piece.log_number;
  }

  void Take(const Piece& piece, uint64_t offset) {
    const bool begins = piece.kind == Kind::kFull || piece.kind == Kind::kFirst;
    if (begins && begun_.has_value()) {
      // RocksDB accepts an empty beginning, which older versions left at the end of a block.
      if (!begun_empty_) NoteBad(*begun_, "record without an end");
      begun_.reset();
    }
    if (!begins && !begun_.has_value()) {
      // After a bad record, this may be the rest of it. NoteBad keeps only the first.
      NoteBad(offset, "record without a beginning");
      return;
    }
    switch (piece.kind) {
      case Kind::kFull:
        Count();
        break;
      case Kind::kFirst:
        begun_ = offset;
        begun_empty_ = piece.empty;
        break;
      case Kind::kMiddle:
        begun_empty_ = begun_empty_ && piece.empty;
        break;
      case Kind::kLast:
        begun_.reset();
        Count();
        break;
    }
  }

  std::string_view bytes_;
  LogScan scan_;
  std::optional<uint64_t> begun_;  // The offset of a record whose end has not been read yet.
  bool begun_empty_ = false;
  std::optional<uint32_t> log_number_;
};

// ------------------------------------------------------------------------------------------------
// Files

struct LogFile {
  uint64_t number = 0;
  std::string path;
};

tl::unexpected<base::Error> FailIo(std::string_view doing, const std::string& path, int error) {
  return base::Fail(base::Reason::kInternalError,
                    fmt::format("cannot {} {}: {}", doing, path,
                                std::error_code(error, std::generic_category()).message()));
}

base::Result<std::vector<LogFile>> ListLogs(const std::string& directory) {
  std::vector<LogFile> logs;
  std::error_code error;
  std::filesystem::directory_iterator it(directory, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename();
    if (!name.ends_with(".log")) continue;
    const char* stem_end = name.data() + name.size() - 4;
    LogFile log{.path = it->path()};
    const auto [end, failed] = std::from_chars(name.data(), stem_end, log.number);
    if (failed == std::errc() && end == stem_end) logs.push_back(std::move(log));
  }
  if (error) return FailIo("list", directory, error.value());
  std::ranges::sort(logs, {}, &LogFile::number);
  return logs;
}

base::Result<std::string> ReadFile(const std::string& path, uint64_t from = 0) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (file.Get() < 0 || fstat(file.Get(), &status) != 0) return FailIo("open", path, errno);
  const auto size = static_cast<uint64_t>(status.st_size);
  std::string bytes(size > from ? size - from : 0, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = pread(file.Get(), bytes.data() + done, bytes.size() - done,
                            static_cast<off_t>(from + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailIo("read", path, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

base::Result<void> SyncPath(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.Get() < 0 || fsync(file.Get()) != 0) return FailIo("sync", path, errno);
  return {};
}

base::Result<void> WriteSynced(const std::string& path, std::string_view bytes) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.Get() < 0) return FailIo("make", path, errno);
  while (!bytes.empty()) {
    const ssize_t n = write(file.Get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FailIo("write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  if (fsync(file.Get()) != 0) return FailIo("sync", path, errno);
  return {};
}

base::Result<void> TruncateSynced(const std::string& path, uint64_t size) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.Get() < 0 || ftruncate(file.Get(), static_cast<off_t>(size)) != 0) {
    return FailIo("truncate", path, errno);
  }
  if (fsync(file.Get()) != 0) return FailIo("sync", path, errno);
  return {};
}

/// Makes a new folder and returns its path. A second cut at the same time gets a number after its
/// name.
base::Result<std::string> MakeCutFolder(const std::string& directory, std::string_view utc_time) {
  for (int i = 1;; ++i) {
    std::string folder = fmt::format("{}/cut-{}", directory, utc_time);
    if (i > 1) folder += fmt::format("-{}", i);
    if (mkdir(folder.c_str(), 0700) == 0) return folder;
    if (errno != EEXIST || i == 1000) return FailIo("make", folder, errno);
  }
}

std::string NameOf(const std::string& path) { return std::filesystem::path(path).filename(); }

}  // namespace

LogScan ScanLog(std::string_view bytes) { return Scanner(bytes).Run(); }

base::Result<std::optional<BadRecord>> CheckLogs(const std::string& directory) {
  const auto logs = ListLogs(directory);
  if (!logs.has_value()) return tl::unexpected(logs.error());
  std::optional<BadRecord> bad;
  for (const LogFile& log : *logs) {
    const auto bytes = ReadFile(log.path);
    if (!bytes.has_value()) return tl::unexpected(bytes.error());
    LogScan scan = ScanLog(*bytes);
    if (bad.has_value()) {
      bad->lost_records += scan.records + scan.records_after;
      bad->lost_bytes += bytes->size();
    } else if (scan.bad_offset.has_value()) {
      bad = BadRecord{.file = log.path,
                      .offset = *scan.bad_offset,
                      .what = std::move(scan.what),
                      .lost_records = scan.records_after,
                      .lost_bytes = bytes->size() - *scan.bad_offset};
    }
  }
  if (bad.has_value()) bad->tail = bad->lost_records == 0;
  return bad;
}

base::Result<std::string> CutLog(const std::string& directory, const BadRecord& bad,
                                 std::string_view utc_time) {
  const auto logs = ListLogs(directory);
  if (!logs.has_value()) return tl::unexpected(logs.error());
  const auto cut = std::ranges::find(*logs, NameOf(bad.file),
                                     [](const LogFile& log) { return NameOf(log.path); });
  if (cut == logs->end()) return FailIo("cut", bad.file, ENOENT);
  const auto rest = ReadFile(cut->path, bad.offset);
  if (!rest.has_value()) return tl::unexpected(rest.error());
  auto folder = MakeCutFolder(directory, utc_time);
  if (!folder.has_value()) return folder;

  const std::string copy = fmt::format("{}/{}.from-{}", *folder, NameOf(cut->path), bad.offset);
  if (auto done = WriteSynced(copy, *rest); !done) return tl::unexpected(done.error());
  // Moves the newest file first, so that a crash in between leaves no file without its predecessor.
  for (auto later = logs->end() - 1; later != cut; --later) {
    const std::string target = fmt::format("{}/{}", *folder, NameOf(later->path));
    if (rename(later->path.c_str(), target.c_str()) != 0) return FailIo("move", later->path, errno);
  }
  if (auto done = SyncPath(*folder); !done) return tl::unexpected(done.error());
  if (auto done = SyncPath(directory); !done) return tl::unexpected(done.error());
  if (auto done = TruncateSynced(cut->path, bad.offset); !done) {
    return tl::unexpected(done.error());
  }
  return folder;
}

}  // namespace berth::store::rocks
