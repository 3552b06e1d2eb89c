// libfaultfs.so, for LD_PRELOAD: it sits between a program and the file system and simulates a disk
// that loses unsynced data (see crash/disk.h). It covers what RocksDB and Berth use to change
// files. It ends the program rather than miss a change that it does not cover: shared writable
// mappings of watched files. Standard streams (FILE*, RocksDB's own LOG file) are not covered.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <string>

#include "crash/disk.h"
#include "crash/real.h"

namespace {

namespace real = faultfs::real;
using faultfs::Disk;

/// The watched descriptors. Every write of the program reads this without a lock.
std::array<std::atomic<bool>, 65536>& WatchedFds() {
  static std::array<std::atomic<bool>, 65536> watched;
  return watched;
}

bool IsWatched(int fd) {
  return fd >= 0 && static_cast<size_t>(fd) < WatchedFds().size() &&
         WatchedFds()[static_cast<size_t>(fd)];
}

int DoOpen(const char* path, int flags, mode_t mode) {
  Disk& disk = Disk::Get();
  const std::string watched = path == nullptr ? "" : disk.Watched(path);
  if (watched.empty()) {
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  }
  const auto lock = disk.Lock();
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  const auto before = writes ? disk.WillOpen(watched, flags) : Disk::BeforeOpen{};
  const bool changes = writes && (!before.existed || !before.truncated.empty());
  if (changes) disk.WillChange();
  const int fd = real::Open(watched, flags, mode);
  if (fd < 0) return fd;
  if (static_cast<size_t>(fd) >= WatchedFds().size()) real::Give("too many open files");
  WatchedFds()[static_cast<size_t>(fd)] = true;
  if (writes) disk.Opened(before, fd);
  if (changes) disk.Changed();
  return fd;
}

/// Writes at `offset`; -1 means the descriptor's current position.
ssize_t DoWrite(int fd, const void* data, size_t size, off_t offset) {
  Disk& disk = Disk::Get();
  const auto lock = disk.Lock();
  disk.WillChange();
  const int flags = fcntl(fd, F_GETFL);
  uint64_t at =
      offset >= 0 ? static_cast<uint64_t>(offset) : static_cast<uint64_t>(lseek(fd, 0, SEEK_CUR));
  if ((flags & O_APPEND) != 0) at = real::SizeOf(fd);
  const size_t allowed = disk.Allowed(size);
  if (allowed == 0 && size > 0) {
    errno = ENOSPC;
    return -1;
  }
  auto before = disk.WillWrite(fd, at, allowed);
  const ssize_t n =
      offset >= 0 ? real::PositionedWrite(fd, data, allowed, at) : real::Write(fd, data, allowed);
  if (n <= 0) return n;
  disk.Wrote(fd, std::move(before), static_cast<uint64_t>(n));
  if ((flags & O_DSYNC) != 0) disk.Synced(fd);
  disk.Changed();
  return n;
}

int DoSync(int fd, long call) {
  if (!IsWatched(fd)) return static_cast<int>(syscall(call, fd));
  Disk& disk = Disk::Get();
  const auto lock = disk.Lock();
  if (disk.WillSync(fd)) {
    errno = EIO;
    return -1;
  }
  const int result = static_cast<int>(syscall(call, fd));
  if (result == 0) disk.Synced(fd);
  return result;
}

int DoTruncate(int fd, off_t size) {
  if (!IsWatched(fd) || size < 0) return static_cast<int>(syscall(SYS_ftruncate, fd, size));
  Disk& disk = Disk::Get();
  const auto lock = disk.Lock();
  const uint64_t old_size = real::SizeOf(fd);
  const auto new_size = static_cast<uint64_t>(size);
  if (new_size == old_size) return real::Truncate(fd, new_size);
  disk.WillChange();
  // The descriptor may be write-only; the disk's own can read.
  std::string tail;
  if (new_size < old_size) tail = disk.WillWrite(fd, new_size, old_size - new_size).old;
  const int result = real::Truncate(fd, new_size);
  if (result != 0) return result;
  disk.Resized(fd, old_size, std::move(tail));
  disk.Changed();
  return result;
}

int DoAllocate(int fd, int mode, off_t offset, off_t length) {
  if (IsWatched(fd) && (mode & FALLOC_FL_KEEP_SIZE) == 0) {
    real::Give("fallocate that changes a file's size is not modelled");
  }
  return static_cast<int>(syscall(SYS_fallocate, fd, mode, offset, length));
}

int DoRename(const char* from, const char* to) {
  Disk& disk = Disk::Get();
  const std::string watched_from = disk.Watched(from);
  const std::string watched_to = disk.Watched(to);
  if (watched_from.empty() && watched_to.empty()) return real::Rename(from, to);
  if (watched_from.empty() || watched_to.empty()) real::Give("rename into or out of the directory");
  const auto lock = disk.Lock();
  disk.WillChange();
  struct stat status{};
  if (lstat(watched_from.c_str(), &status) != 0) return -1;
  std::string hidden;
  if (lstat(watched_to.c_str(), &status) == 0) hidden = disk.Hide(watched_to);
  const int result = real::Rename(watched_from, watched_to);
  if (result != 0) real::Give("a rename failed");
  disk.Renamed(watched_from, watched_to, std::move(hidden));
  disk.Changed();
  return result;
}

int DoUnlink(const char* path) {
  Disk& disk = Disk::Get();
  const std::string watched = disk.Watched(path);
  if (watched.empty()) return real::Unlink(path);
  const auto lock = disk.Lock();
  disk.WillChange();
  struct stat status{};
  if (lstat(watched.c_str(), &status) != 0) return -1;
  if (S_ISDIR(status.st_mode)) return real::Unlink(path);
  disk.Deleted(watched, disk.Hide(watched));
  disk.Changed();
  return 0;
}

int DoLink(const char* from, const char* to) {
  Disk& disk = Disk::Get();
  const std::string watched = disk.Watched(to);
  const auto lock = disk.Lock();
  if (!watched.empty()) disk.WillChange();
  const auto result = static_cast<int>(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
  if (result != 0 || watched.empty()) return result;
  disk.Made(watched);
  disk.Changed();
  return result;
}

int DoMakeDirectory(const char* path, mode_t mode) {
  Disk& disk = Disk::Get();
  const std::string watched = disk.Watched(path);
  const auto lock = disk.Lock();
  if (!watched.empty()) disk.WillChange();
  const int result = real::MakeDirectory(path, mode);
  if (result != 0 || watched.empty()) return result;
  disk.MadeDirectory(watched);
  disk.Changed();
  return result;
}

__attribute__((destructor)) void AtExit() {
  Disk& disk = Disk::Get();
  const auto lock = disk.Lock();
  disk.Exit();
}

mode_t ModeOf(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

// The names of the C library, including those that programs with 64-bit offsets call.
// NOLINTBEGIN(readability-identifier-naming,performance-no-int-to-ptr)
extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  return DoOpen(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  return DoOpen(path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = ModeOf(flags, arguments);
  va_end(arguments);
  // Only directories are opened relative to a descriptor, to list or delete them.
  if (directory == AT_FDCWD) return DoOpen(path, flags, mode);
  return static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}

int creat(const char* path, mode_t mode) {
  return DoOpen(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

ssize_t write(int fd, const void* data, size_t size) {
  return IsWatched(fd) ? DoWrite(fd, data, size, -1) : real::Write(fd, data, size);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  return IsWatched(fd) ? DoWrite(fd, data, size, offset)
                       : real::PositionedWrite(fd, data, size, static_cast<uint64_t>(offset));
}

ssize_t pwrite64(int fd, const void* data, size_t size, off_t offset) {
  return pwrite(fd, data, size, offset);
}

ssize_t writev(int fd, const iovec* parts, int count) {
  if (!IsWatched(fd)) return syscall(SYS_writev, fd, parts, count);
  std::string joined;
  for (int i = 0; i < count; ++i) {
    joined.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  }
  return DoWrite(fd, joined.data(), joined.size(), -1);
}

int fsync(int fd) { return DoSync(fd, SYS_fsync); }
int fdatasync(int fd) { return DoSync(fd, SYS_fdatasync); }

int ftruncate(int fd, off_t size) noexcept { return DoTruncate(fd, size); }
int ftruncate64(int fd, off_t size) noexcept { return DoTruncate(fd, size); }

int fallocate(int fd, int mode, off_t offset, off_t length) {
  return DoAllocate(fd, mode, offset, length);
}
int fallocate64(int fd, int mode, off_t offset, off_t length) {
  return DoAllocate(fd, mode, offset, length);
}
int posix_fallocate(int fd, off_t offset, off_t length) {
  return DoAllocate(fd, 0, offset, length) == 0 ? 0 : errno;
}

int rename(const char* from, const char* to) noexcept { return DoRename(from, to); }
int unlink(const char* path) noexcept { return DoUnlink(path); }
int link(const char* from, const char* to) noexcept { return DoLink(from, to); }
int mkdir(const char* path, mode_t mode) noexcept { return DoMakeDirectory(path, mode); }

int close(int fd) {
  if (IsWatched(fd)) WatchedFds()[static_cast<size_t>(fd)] = false;
  return real::Close(fd);
}

void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) noexcept {
  if ((flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0 && IsWatched(fd)) {
    real::Give("shared writable mappings are not modelled");
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, fd, offset));
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,performance-no-int-to-ptr)
