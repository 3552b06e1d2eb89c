// The system calls themselves. In a process that runs under libfaultfs.so, the C library's names
// are the interposed ones.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace faultfs::real {

inline int Open(const std::string& path, int flags, mode_t mode = 0) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path.c_str(), flags, mode));
}
inline int Close(int fd) { return static_cast<int>(syscall(SYS_close, fd)); }
inline ssize_t Write(int fd, const void* data, size_t size) {
  return syscall(SYS_write, fd, data, size);
}
inline ssize_t PositionedWrite(int fd, const void* data, size_t size, uint64_t offset) {
  return syscall(SYS_pwrite64, fd, data, size, offset);
}
inline int Truncate(int fd, uint64_t size) {
  return static_cast<int>(syscall(SYS_ftruncate, fd, size));
}
inline int Rename(const std::string& from, const std::string& to) {
  return static_cast<int>(syscall(SYS_renameat, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str()));
}
inline int Unlink(const std::string& path, int flags = 0) {
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), flags));
}
inline int MakeDirectory(const std::string& path, mode_t mode) {
  return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path.c_str(), mode));
}

inline uint64_t SizeOf(int fd) {
  struct stat status{};
  return fstat(fd, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

/// Writes all bytes or ends the process, because a simulated disk that cannot write is useless.
void WriteAll(int fd, std::string_view bytes, uint64_t offset);
std::string ReadAll(int fd, uint64_t offset, uint64_t length);

/// Prints the reason to standard error and ends the process with a code that no program here uses.
[[noreturn]] void Give(const std::string& why);

}  // namespace faultfs::real
