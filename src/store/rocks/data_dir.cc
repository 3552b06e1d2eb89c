#include "store/rocks/data_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/fd.h"

namespace berth::store::rocks {

namespace {

using base::Fd;

constexpr std::string_view kHolder = "holder";
constexpr size_t kMaxCommand = 300;
constexpr size_t kMaxHolderText = 512;

std::string ErrnoText(int error) {
  return std::error_code(error, std::generic_category()).message();
}

/// Returns the error when `doing` something with the directory failed, with advice for people.
tl::unexpected<base::Error> FailUse(const std::string& directory, std::string_view doing,
                                    int error) {
  using base::Reason;
  switch (error) {
    case EACCES:
    case EPERM:
      return base::Fail(Reason::kForbidden,
                        fmt::format("no permission to {} (user id {}): run as the user it belongs "
                                    "to, change its owner or choose another directory",
                                    doing, geteuid()));
    case EROFS:
      return base::Fail(Reason::kForbidden,
                        fmt::format("cannot {}: {} is on a read-only file system; make that "
                                    "writable or choose another directory",
                                    doing, directory));
    case ENOSPC:
    case EDQUOT:
      return base::Fail(Reason::kServiceUnavailable,
                        fmt::format("cannot {}: {}; make room on the file system of {} or choose "
                                    "another directory",
                                    doing, ErrnoText(error), directory));
    default:
      return base::Fail(Reason::kInternalError,
                        fmt::format("cannot {}: {}", doing, ErrnoText(error)));
  }
}

/// Reads up to `max` bytes. Returns what it could read, which may be nothing.
std::string ReadSome(int fd, size_t max) {
  std::string text(max, '\0');
  size_t done = 0;
  while (done < max) {
    const ssize_t n = read(fd, text.data() + done, max - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  text.resize(done);
  return text;
}

/// Replaces bytes that a terminal cannot show on one line.
std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return text;
}

/// Returns the command line of this process, with spaces between the words.
std::string OwnCommand() {
  const Fd file(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  std::string text = file.Get() < 0 ? "" : ReadSome(file.Get(), kMaxCommand);
  while (text.ends_with('\0')) text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  return text.empty() ? "berth" : Printable(std::move(text));
}

/// Returns "pid 1234 (berth serve --data-dir /var/lib/berth), since 2026-11-15T04:35:00Z" and a
/// newline.
std::string HolderText(const base::Clock& clock) {
  const std::string now = base::FormatRfc3339Millis(clock.Now());
  return fmt::format("pid {} ({}), since {}Z\n", getpid(), OwnCommand(),
                     now.substr(0, now.rfind('.')));
}

/// Returns a description of the process that holds the directory, for messages. Returns an empty
/// string if the text is not, or not yet, what HolderText returns.
std::string DescribeHolder(std::string text) {
  const size_t end = text.find('\n');
  if (!text.starts_with("pid ") || end == std::string::npos) return "";
  text = Printable(text.substr(0, end));
  const size_t open = text.find(" (");
  const size_t close = text.rfind("), since ");
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  const std::string command = text.substr(open + 2, close - open - 2);
  const std::string name = std::filesystem::path(command.substr(0, command.find(' '))).filename();
  return fmt::format("{} ({}, \"{}\", {})", name.empty() ? "a process" : name, text.substr(0, open),
                     command, text.substr(close + 3));
}

tl::unexpected<base::Error> FailHeld(const std::string& directory, int fd) {
  std::string who;
  // The other process locks the file first and writes its name right after, so this waits a moment.
  for (int i = 0; i < 20 && who.empty(); ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (lseek(fd, 0, SEEK_SET) == 0) who = DescribeHolder(ReadSome(fd, kMaxHolderText));
  }
  return base::Fail(base::Reason::kConflict,
                    fmt::format("{} is in use by {}; only one process can use a data directory: "
                                "stop that one or choose another directory",
                                directory, who.empty() ? "another process" : who));
}

/// Syncs the parent, so that a new directory survives a crash as its contents do.
void SyncParent(const std::string& parent) {
  const Fd file(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A parent that may be entered but not read cannot be synced. The directory is usable all the
  // same.
  if (file.Get() >= 0) static_cast<void>(fsync(file.Get()));
}

base::Result<void> MakeDirectory(const std::string& directory) {
  if (mkdir(directory.c_str(), 0700) == 0) {
    const auto parent = std::filesystem::path(directory + "/.").parent_path().parent_path();
    SyncParent(parent.empty() ? "." : parent.string());
    return {};
  }
  const int error = errno;
  struct stat status{};
  if (error == EEXIST || stat(directory.c_str(), &status) == 0) {
    if (stat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return {};
    return base::Fail(
        base::Reason::kInvalid,
        fmt::format("{} is not a directory: move it away or choose another directory", directory));
  }
  if (error == ENOENT) {
    return base::Fail(base::Reason::kNotFound,
                      fmt::format("cannot make {}: its parent directory does not exist; "
                                  "make that first",
                                  directory));
  }
  if (error == ENOTDIR) {
    return base::Fail(
        base::Reason::kInvalid,
        fmt::format("cannot make {}: a part of this path is not a directory", directory));
  }
  return FailUse(directory, fmt::format("make {}", directory), error);
}

class HeldLock final : public DirLock {
 public:
  explicit HeldLock(Fd fd) : fd_(std::move(fd)) {}

 private:
  const Fd fd_;
};

}  // namespace

base::Result<std::unique_ptr<DirLock>> DirLock::Take(const std::string& directory,
                                                     const base::Clock& clock) {
  if (auto made = MakeDirectory(directory); !made.has_value()) return tl::unexpected(made.error());
  const std::string path = fmt::format("{}/{}", directory, kHolder);
  Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.Get() < 0) return FailUse(directory, fmt::format("write {}", path), errno);
  if (flock(file.Get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return FailHeld(directory, file.Get());
    return FailUse(directory, fmt::format("lock {}", path), errno);
  }
  // Only the lock counts. On a full disk the text may get lost, but the store must stay readable.
  const std::string text = HolderText(clock);
  static_cast<void>(pwrite(file.Get(), text.data(), text.size(), 0));
  static_cast<void>(ftruncate(file.Get(), static_cast<off_t>(text.size())));
  return std::make_unique<HeldLock>(std::move(file));
}

base::Result<uint64_t> FreeBytes(const std::string& directory) {
  struct statvfs status{};
  if (statvfs(directory.c_str(), &status) != 0) {
    return FailUse(directory, fmt::format("read the free space of {}", directory), errno);
  }
  return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

std::string FolderTime(const base::Clock& clock) {
  std::string text;
  for (const char c : base::FormatRfc3339Millis(clock.Now())) {
    if (c == '.') break;
    if (c != '-' && c != ':') text.push_back(c);
  }
  return text + "Z";
}

}  // namespace berth::store::rocks
