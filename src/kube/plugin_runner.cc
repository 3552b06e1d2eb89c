#include "kube/plugin_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace berth::kube {
namespace {

using base::Reason;
using base::Result;
using std::chrono::steady_clock;

/// How much of the end of a plugin's standard error is kept.
constexpr size_t kErrorsKept = size_t{4} << 10;
/// How often to look whether the program has ended, on a kernel without pidfd_open.
constexpr std::chrono::milliseconds kLookEvery{20};

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  void Close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

tl::unexpected<base::Error> CannotStart(int error) {
  return base::Fail(error == ENOENT ? Reason::kNotFound : Reason::kInternalError,
                    std::strerror(error));
}

/// Returns the same file with a number above those of the standard files, which the child replaces.
/// A process may have been started without some of these.
Descriptor AboveStandard(int file) {
  if (file > STDERR_FILENO || file < 0) return Descriptor(file);
  const int moved = ::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(file);
  return Descriptor(moved);
}

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return CannotStart(errno);
  Pipe made{.read = AboveStandard(ends[0]), .write = AboveStandard(ends[1])};
  if (made.read.get() < 0 || made.write.get() < 0) return CannotStart(EMFILE);
  return made;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Everything that the child needs between fork and execve, where it must not allocate.
struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  bool interactive;
  int null_device;
  int output;
  int errors;  // -1 to keep that of this process.
  int failure;
  pid_t parent;
};

/// Runs in the child. Calls only functions that are safe there, and does not return.
[[noreturn]] void BecomeProgram(const ChildPlan& plan) {
  constexpr int kFailureFile = STDERR_FILENO + 1;
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (!plan.interactive) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) ::_exit(127);  // The parent died before prctl.
    ::dup2(plan.null_device, STDIN_FILENO);
  }
  ::dup2(plan.output, STDOUT_FILENO);
  if (plan.errors >= 0) ::dup2(plan.errors, STDERR_FILENO);
  if (plan.failure != kFailureFile) ::dup2(plan.failure, kFailureFile);
  ::fcntl(kFailureFile, F_SETFD, FD_CLOEXEC);
  ::close_range(kFailureFile + 1, UINT_MAX, 0);
  ::execve(plan.program, plan.arguments, plan.environment);
  const int error = errno;
  const ssize_t ignored = ::write(kFailureFile, &error, sizeof error);
  static_cast<void>(ignored);
  ::_exit(127);
}

/// A started program. Its destructor kills and reaps it, unless its end was seen.
class Child {
 public:
  Child(pid_t pid, bool own_group) : pid_(pid), own_group_(own_group) {}
  ~Child() {
    if (pid_ < 0) return;
    Kill();
    Reap(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Kill() const {
    if (pid_ > 0) ::kill(own_group_ ? -pid_ : pid_, SIGKILL);
  }

  /// Returns whether the program has ended. `status` is then what waitpid said. With the option
  /// WNOHANG it does not wait.
  bool Reap(int options) {
    pid_t reaped = 0;
    do reaped = ::waitpid(pid_, &status, options);
    while (reaped < 0 && errno == EINTR);
    if (reaped == 0) return false;
    pid_ = -1;
    return true;
  }

  int pid() const { return pid_; }

  int status = 0;

 private:
  pid_t pid_;
  bool own_group_;
};

/// Reads what is there without waiting. Returns false at the end of the file.
template <typename Take>
bool ReadAvailable(int file, const Take& take) {
  std::array<char, size_t{16} << 10> part;
  for (;;) {
    const ssize_t got = ::read(file, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    if (!take(std::string_view(part.data(), static_cast<size_t>(got)))) return true;
  }
}

/// Collects the output of a program until its end or a limit.
class Collector {
 public:
  Collector(const PluginCommand& command, Child& child, Descriptor output, Descriptor errors)
      : command_(command),
        child_(child),
        output_(std::move(output)),
        errors_(std::move(errors)),
        ended_(static_cast<int>(::syscall(SYS_pidfd_open, child.pid(), 0))) {
    for (const Descriptor* file : {&output_, &errors_}) {
      if (file->get() >= 0) ::fcntl(file->get(), F_SETFL, O_NONBLOCK);
    }
  }

  PluginRun Collect() {
    const auto deadline = steady_clock::now() + command_.time_limit;
    for (;;) {
      const bool ended = child_.Reap(WNOHANG);
      ReadFiles();
      if (run_.output.size() > command_.output_limit) {
        return Cut(PluginRun::Ending::kTooMuchOutput, ended);
      }
      // What the program wrote before its end was in the pipes then. Programs that it left running
      // may keep the pipes open, so their end is not waited for.
      if (ended) return Finished();
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
      if (!command_.interactive && left.count() <= 0) {
        return Cut(PluginRun::Ending::kTimedOut, false);
      }
      Wait(command_.interactive ? std::chrono::milliseconds(INT_MAX) : left);
    }
  }

 private:
  void ReadFiles() {
    const auto take_output = [this](std::string_view part) {
      run_.output += part;
      return run_.output.size() <= command_.output_limit;
    };
    const auto take_errors = [this](std::string_view part) {
      run_.errors += part;
      if (run_.errors.size() > kErrorsKept) {
        run_.errors.erase(0, run_.errors.size() - kErrorsKept);
      }
      return true;
    };
    if (output_.get() >= 0 && !ReadAvailable(output_.get(), take_output)) output_.Close();
    if (errors_.get() >= 0 && !ReadAvailable(errors_.get(), take_errors)) errors_.Close();
  }

  void Wait(std::chrono::milliseconds left) const {
    std::array<pollfd, 3> files{{{.fd = output_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = errors_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = ended_.get(), .events = POLLIN, .revents = 0}}};
    if (ended_.get() < 0) left = std::min(left, kLookEvery);
    const auto limited = std::clamp<int64_t>(left.count(), 0, INT_MAX);
    ::poll(files.data(), files.size(), static_cast<int>(limited));
  }

  PluginRun Finished() {
    const bool exited = WIFEXITED(child_.status);
    run_.ending = exited ? PluginRun::Ending::kExited : PluginRun::Ending::kSignalled;
    run_.code = exited ? WEXITSTATUS(child_.status) : WTERMSIG(child_.status);
    return std::move(run_);
  }

  PluginRun Cut(PluginRun::Ending ending, bool ended) {
    if (!ended) {
      child_.Kill();
      child_.Reap(0);
    }
    run_.ending = ending;
    return std::move(run_);
  }

  const PluginCommand& command_;
  Child& child_;
  Descriptor output_;
  Descriptor errors_;
  Descriptor ended_;
  PluginRun run_;
};

/// Returns the error number that the child sent because execve failed, or 0 if it did not.
int StartFailure(int file) {
  int error = 0;
  ssize_t got = 0;
  do got = ::read(file, &error, sizeof error);
  while (got < 0 && errno == EINTR);
  return got == sizeof error ? error : 0;
}

class ProcessRunner final : public PluginRunner {
 public:
  Result<PluginRun> Run(const PluginCommand& command) override {
    std::string program = command.program;
    if (program.find('/') == std::string::npos) {
      const char* path = std::getenv("PATH");
      program = FindOnPath(program, path == nullptr ? "" : path);
      if (program.empty()) return CannotStart(ENOENT);
    }
    auto output = MakePipe();
    if (!output) return tl::unexpected(output.error());
    auto errors = MakePipe();
    if (!errors) return tl::unexpected(errors.error());
    auto failure = MakePipe();
    if (!failure) return tl::unexpected(failure.error());
    const Descriptor null_device = AboveStandard(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (null_device.get() < 0) return CannotStart(errno);

    std::vector<std::string> arguments{command.program};
    arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
    std::vector<std::string> environment = command.environment;
    const std::vector<char*> argument_pointers = Pointers(arguments);
    const std::vector<char*> environment_pointers = Pointers(environment);
    const ChildPlan plan{.program = program.c_str(),
                         .arguments = argument_pointers.data(),
                         .environment = environment_pointers.data(),
                         .interactive = command.interactive,
                         .null_device = null_device.get(),
                         .output = output->write.get(),
                         .errors = command.interactive ? -1 : errors->write.get(),
                         .failure = failure->write.get(),
                         .parent = ::getpid()};
    const pid_t pid = ::fork();
    if (pid < 0) return CannotStart(errno);
    if (pid == 0) BecomeProgram(plan);
    Child child(pid, !command.interactive);
    output->write.Close();
    errors->write.Close();
    failure->write.Close();
    if (const int error = StartFailure(failure->read.get()); error != 0) return CannotStart(error);
    if (command.interactive) errors->read.Close();
    return Collector(command, child, std::move(output->read), std::move(errors->read)).Collect();
  }
};

}  // namespace

std::shared_ptr<PluginRunner> MakeProcessRunner() { return std::make_shared<ProcessRunner>(); }

std::string FindOnPath(std::string_view name, std::string_view path) {
  while (!name.empty() && !path.empty()) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), folder.size() + 1));
    if (!folder.starts_with('/')) continue;
    std::string file = fmt::format("{}/{}", folder, name);
    struct stat about{};
    if (::stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
        ::access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return {};
}

}  // namespace berth::kube
