#include "history/segment_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace berth::history {
namespace {

using base::Reason;
using base::Result;

constexpr size_t kFlushBytes = size_t{32} << 10;
constexpr const char* kUnfinished = ".new";

void AppendLittle32(uint32_t number, std::string& out) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift);
}

}  // namespace

SegmentWriter::SegmentWriter(std::string path, uint64_t number, base::Fd file, uint64_t written,
                             CodingState state)
    : path_(std::move(path)),
      number_(number),
      file_(std::move(file)),
      written_(written),
      entries_(std::move(state)) {}

Result<void> SegmentWriter::Failed(const char* what, const std::string& path) const {
  return base::Fail(Reason::kInternalError, fmt::format("cannot {} {}: {}", what, path,
                                                        std::generic_category().message(errno)));
}

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(const std::string& path,
                                                             const SegmentHeader& header) {
  const std::string unfinished = path + kUnfinished;
  base::Fd file(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.Get() < 0) {
    return base::Fail(Reason::kInternalError, fmt::format("cannot create {}: {}", unfinished,
                                                          std::generic_category().message(errno)));
  }
  CodingState state;
  state.start = state.time = header.start;
  std::unique_ptr<SegmentWriter> writer(
      new SegmentWriter(path, header.number, std::move(file), 0, std::move(state)));
  if (auto done = writer->WriteOut(kSegmentMagic); !done) return tl::unexpected(done.error());
  if (auto done = writer->WriteBlock(EncodeHeader(header)); !done) {
    return tl::unexpected(done.error());
  }
  return writer;
}

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Continue(const std::string& path,
                                                               uint64_t number, uint64_t bytes,
                                                               CodingState state) {
  base::Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.Get() < 0 || ftruncate(file.Get(), static_cast<off_t>(bytes)) != 0 ||
      lseek(file.Get(), 0, SEEK_END) < 0) {
    return base::Fail(Reason::kInternalError, fmt::format("cannot continue {}: {}", path,
                                                          std::generic_category().message(errno)));
  }
  return std::unique_ptr<SegmentWriter>(
      new SegmentWriter(path, number, std::move(file), bytes, std::move(state)));
}

Result<void> SegmentWriter::WriteOut(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(file_.Get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed("write", path_);
    bytes.remove_prefix(static_cast<size_t>(n));
    written_ += static_cast<uint64_t>(n);
    unsynced_ = true;
  }
  return {};
}

Result<void> SegmentWriter::WriteBlock(std::string_view payload) {
  std::string block;
  block.reserve(kBlockHeaderBytes + payload.size());
  AppendLittle32(static_cast<uint32_t>(payload.size()), block);
  AppendLittle32(BlockChecksum(number_, written_, payload), block);
  block += payload;
  return WriteOut(block);
}

Result<void> SegmentWriter::Publish() {
  entries_.Write({.kind = EntryKind::kChecked}, buffer_);
  if (auto synced = Sync(); !synced) return synced;
  if (std::rename((path_ + kUnfinished).c_str(), path_.c_str()) != 0) {
    return Failed("rename to", path_);
  }
  const std::string folder = std::filesystem::path(path_).parent_path();
  const base::Fd directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.Get() < 0 || fsync(directory.Get()) != 0) return Failed("sync", folder);
  return {};
}

Result<void> SegmentWriter::Append(const Entry& entry) {
  entries_.Write(entry, buffer_);
  return FlushIfLarge();
}

Result<void> SegmentWriter::AppendWithOwner(const Entry& entry, const Owner& owner,
                                            uint32_t& number) {
  number = entries_.Write(entry, owner, buffer_);
  return FlushIfLarge();
}

Result<void> SegmentWriter::FlushIfLarge() {
  return buffer_.size() >= kFlushBytes ? Flush() : Result<void>();
}

Result<void> SegmentWriter::Flush() {
  if (buffer_.empty()) return {};
  auto written = WriteBlock(buffer_);
  if (written) buffer_.clear();
  return written;
}

Result<void> SegmentWriter::Sync() {
  if (auto flushed = Flush(); !flushed) return flushed;
  if (!unsynced_) return {};
  if (fdatasync(file_.Get()) != 0) return Failed("sync", path_);
  unsynced_ = false;
  return {};
}

}  // namespace berth::history
