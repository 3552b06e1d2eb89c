#include "store/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/go_text.h"

namespace berth::store {
namespace {

/// Returns why `doing` failed, and advice where it is not obvious.
base::Error SystemError(std::string_view doing, const std::string& path, int error) {
  using base::Reason;
  const std::string text = std::error_code(error, std::generic_category()).message();
  std::string message = fmt::format("cannot {} {}: {}", doing, base::GoQuoted(path), text);
  if (error == ENOSPC || error == EDQUOT) {
    message += "; make room or choose a place on another file system";
    return {.reason = Reason::kServiceUnavailable, .message = std::move(message)};
  }
  if (error == EACCES || error == EPERM || error == EROFS) {
    return {.reason = Reason::kForbidden, .message = std::move(message)};
  }
  if (error == ENOENT || error == ENOTDIR || error == EISDIR || error == ENAMETOOLONG) {
    return {.reason = Reason::kNotFound, .message = std::move(message)};
  }
  return {.reason = Reason::kInternalError, .message = std::move(message)};
}

bool SyncDirectory(const std::string& path) {
  const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  const bool synced = fsync(directory) == 0;
  const int error = errno;
  close(directory);
  errno = error;
  return synced;
}

}  // namespace

base::Result<std::unique_ptr<PartFile>> PartFile::Create(const std::string& path) {
  struct stat found{};
  if (lstat(path.c_str(), &found) == 0) {
    return base::Fail(
        base::Reason::kAlreadyExists,
        fmt::format("{} is there already; it is not written over", base::GoQuoted(path)));
  }
  const std::string part = path + ".part";
  const int descriptor =
      open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return tl::unexpected(SystemError("write", part, errno));
  return std::unique_ptr<PartFile>(new PartFile(path, descriptor));
}

PartFile::PartFile(std::string path, int descriptor)
    : path_(std::move(path)), part_(path_ + ".part"), descriptor_(descriptor) {}

PartFile::~PartFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(part_.c_str());
}

base::Result<void> PartFile::Problem(std::string_view doing) const {
  return tl::unexpected(SystemError(doing, part_, errno));
}

base::Result<void> PartFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Problem("write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

base::Result<void> PartFile::Finish() {
  if (fsync(descriptor_) != 0) return Problem("sync");
  if (rename(part_.c_str(), path_.c_str()) != 0) return Problem("rename");
  close(std::exchange(descriptor_, -1));
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  const std::string parent = folder.empty() ? "." : folder;
  if (SyncDirectory(parent)) return {};
  return tl::unexpected(SystemError("sync the directory", parent, errno));
}

}  // namespace berth::store
