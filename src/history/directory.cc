#include "history/directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

namespace berth::history {
namespace {

using base::Reason;
using base::Result;

constexpr std::string_view kSuffix = ".seg";
constexpr size_t kDigits = 10;

std::optional<uint64_t> NumberOf(const std::string& name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + kDigits, number);
  if (error != std::errc() || end != name.data() + kDigits) return std::nullopt;
  return number;
}

}  // namespace

std::string SegmentPath(const std::string& directory, uint64_t number) {
  return fmt::format("{}/{:010}{}", directory, number, kSuffix);
}

Result<std::vector<SegmentFile>> ListSegments(const std::string& directory) {
  std::error_code error;
  std::filesystem::directory_iterator each(directory, error);
  std::vector<SegmentFile> files;
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const auto number = NumberOf(each->path().filename());
    if (!number) continue;
    std::error_code gone;  // A segment may be dropped meanwhile.
    const uint64_t bytes = each->file_size(gone);
    if (!gone) files.push_back({.number = *number, .path = each->path(), .bytes = bytes});
  }
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    return base::Fail(missing ? Reason::kNotFound : Reason::kInternalError,
                      fmt::format("{}: {}", directory, error.message()));
  }
  std::ranges::sort(files, {}, &SegmentFile::number);
  return files;
}

Result<base::Fd> LockDirectory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return base::Fail(Reason::kInvalid,
                      fmt::format("cannot create {}: {}", directory, error.message()));
  }
  const std::string path = directory + "/LOCK";
  base::Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file.Get() < 0) {
    return base::Fail(Reason::kInvalid, fmt::format("cannot open {}: {}", path,
                                                    std::generic_category().message(errno)));
  }
  if (flock(file.Get(), LOCK_EX | LOCK_NB) != 0) {
    return base::Fail(Reason::kConflict,
                      fmt::format("another observer records into {}; give each observer a "
                                  "directory of its own",
                                  directory));
  }
  return file;
}

void RemoveUnfinished(const std::string& directory) {
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(directory, error)) {
    std::error_code ignored;
    if (each.path().extension() == ".new") std::filesystem::remove(each.path(), ignored);
  }
}

}  // namespace berth::history
