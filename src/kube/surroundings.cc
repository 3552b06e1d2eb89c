#include "kube/surroundings.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace berth::kube {
namespace {

using base::Reason;

tl::unexpected<base::Error> SystemError() {
  return base::Fail(errno == ENOENT ? Reason::kNotFound : Reason::kInvalid, std::strerror(errno));
}

/// Reads to the end, within the limit. The file may also be a pipe.
base::Result<std::string> ReadDescriptor(int file) {
  std::string content;
  std::array<char, size_t{16} << 10> part;
  for (;;) {
    const ssize_t got = ::read(file, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError();
    if (got == 0) return content;
    content.append(part.data(), static_cast<size_t>(got));
    if (content.size() > kLargestFile) return base::Fail(Reason::kInvalid, "it is too large");
  }
}

base::Result<std::string> ReadRealFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return SystemError();
  auto content = ReadDescriptor(file);
  ::close(file);
  return content;
}

}  // namespace

std::string Surroundings::Variable(std::string_view name) const {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

Surroundings RealSurroundings() {
  static const base::SystemClock clock;
  Surroundings around{
      .read_file = ReadRealFile,
      .stdin_is_terminal = ::isatty(STDIN_FILENO) == 1,
      .runner = MakeProcessRunner(),
      .clock = &clock,
      .show = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    around.environment.emplace_back(*entry);
  }
  return around;
}

}  // namespace berth::kube
