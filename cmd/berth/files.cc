#include "berth/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "berth/terminal.h"

namespace berth::cli {
namespace {

constexpr size_t kMaxFileBytes = size_t{4} << 20;

tl::unexpected<base::Error> CannotWrite(const std::string& path) {
  return base::Fail(base::Reason::kInternalError,
                    fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

bool WriteAll(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return ::fsync(file) == 0;
}

base::Result<void> WriteWithMode(const std::string& path, std::string_view content, mode_t mode) {
  const std::string beside = path + ".new";
  const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0) return CannotWrite(beside);
  const bool fine = WriteAll(file, content);
  const bool closed = ::close(file) == 0;
  if (!fine || !closed) return CannotWrite(beside);
  if (std::rename(beside.c_str(), path.c_str()) != 0) return CannotWrite(path);
  return {};
}

}  // namespace

base::Result<void> WritePrivateFile(const std::string& path, std::string_view content) {
  return WriteWithMode(path, content, 0600);
}

base::Result<void> WritePublicFile(const std::string& path, std::string_view content) {
  return WriteWithMode(path, content, 0644);
}

base::Result<std::string> ReadFlagFile(std::string_view flag, const std::string& path) {
  auto content = ReadAll(path, kMaxFileBytes);
  if (!content) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("{}: cannot read {}: {}", flag, path, content.error().message));
  }
  if (content->size() > kMaxFileBytes) {
    return base::Fail(base::Reason::kInvalid, fmt::format("{}: {} is too large", flag, path));
  }
  return content;
}

}  // namespace berth::cli
