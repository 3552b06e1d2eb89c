#include "berth/ui/open_browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <thread>

namespace berth::cli {
namespace {

/// Starts a program that outlives this one, with nothing of its terminal and no blocked signals.
/// Returns the error number.
int Spawn(const char* program, const std::string& argument, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t ignored;
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  posix_spawnattr_setflags(
      &attributes,
      static_cast<int16_t>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID));
  std::string name = program;
  std::string copy = argument;
  const std::array<char*, 3> arguments = {name.data(), copy.data(), nullptr};
  const int failed = posix_spawnp(&pid, program, &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

}  // namespace

base::Result<void> OpenBrowser(const std::string& url) {
  int failed = 0;
  for (const char* program : {"xdg-open", "open"}) {
    pid_t pid = 0;
    failed = Spawn(program, url, pid);
    if (failed != 0) continue;
    // Some of these programs are the browser itself and end when it ends.
    std::thread([pid] { waitpid(pid, nullptr, 0); }).detach();
    return {};
  }
  return base::Fail(
      base::Reason::kNotFound,
      fmt::format("the browser cannot be started with xdg-open: {}", std::strerror(failed)));
}

}  // namespace berth::cli
