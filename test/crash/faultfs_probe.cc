// Does to files what its arguments say, one after the other, for the tests of libfaultfs.so:
//   faultfs_probe DIRECTORY write:FILE:TEXT append:FILE:TEXT dsync:FILE:TEXT overwrite:FILE:TEXT
//                 sync:FILE syncdir: truncate:FILE:SIZE remake:FILE: rename:FILE:FILE
//                 unlink:FILE mkdir:NAME show:FILE
// `append` opens with O_APPEND, `dsync` with O_DSYNC, `overwrite` writes at offset 0. Prints a line
// for each call that fails, with its number, and for `show` the contents of the file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

struct Step {
  std::string verb;
  std::string file;
  std::string rest;
};

Step Parse(const std::string& directory, const std::string& word) {
  const size_t first = word.find(':');
  const size_t second = word.find(':', first + 1);
  Step step{.verb = word.substr(0, first),
            .file = directory + "/" + word.substr(first + 1, second - first - 1),
            .rest = second == std::string::npos ? "" : word.substr(second + 1)};
  return step;
}

/// Returns the result of the last call. A descriptor is open during one step only.
ssize_t WithFile(const Step& step, int flags) {
  const int fd = open(step.file.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) return fd;
  ssize_t result = 0;
  if (step.verb == "sync") {
    result = fdatasync(fd);
  } else if (step.verb == "syncdir") {
    result = fsync(fd);
  } else if (step.verb == "truncate") {
    result = ftruncate(fd, std::atol(step.rest.c_str()));
  } else if (step.verb == "overwrite") {
    result = pwrite(fd, step.rest.data(), step.rest.size(), 0);
  } else if (step.verb == "show") {
    std::array<char, 4096> text{};
    result = read(fd, text.data(), text.size());
    std::printf("%.*s\n", static_cast<int>(result), text.data());
  } else {
    if (step.verb == "write") lseek(fd, 0, SEEK_END);
    result = write(fd, step.rest.data(), step.rest.size());
    if (result >= 0 && result < static_cast<ssize_t>(step.rest.size())) {
      std::printf("%s: short write of %zd\n", step.verb.c_str(), result);
    }
  }
  const int error = errno;
  close(fd);
  errno = error;
  return result;
}

ssize_t Do(const std::string& directory, const Step& step) {
  if (step.verb == "rename") {
    return rename(step.file.c_str(), (directory + "/" + step.rest).c_str());
  }
  if (step.verb == "unlink") return unlink(step.file.c_str());
  if (step.verb == "mkdir") return mkdir(step.file.c_str(), 0700);
  if (step.verb == "show" || step.verb == "syncdir") return WithFile(step, O_RDONLY);
  if (step.verb == "append") return WithFile(step, O_WRONLY | O_CREAT | O_APPEND);
  if (step.verb == "dsync") return WithFile(step, O_WRONLY | O_CREAT | O_APPEND | O_DSYNC);
  if (step.verb == "remake") return WithFile(step, O_WRONLY | O_CREAT | O_TRUNC);
  return WithFile(step, O_WRONLY | O_CREAT);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : ".";
  for (int i = 2; i < argc; ++i) {
    const Step step = Parse(directory, argv[i]);
    if (Do(directory, step) < 0) std::printf("%s: errno %d\n", step.verb.c_str(), errno);
    std::fflush(stdout);
  }
  return 0;
}
