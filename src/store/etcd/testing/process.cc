#include "store/etcd/testing/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace berth::store::etcd::testing {
namespace {

/// Uses only calls that are safe between fork and exec in a program with threads.
[[noreturn]] void BecomeChild(char* const* argv, int log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // The parent died before the line above.
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  execvp(argv[0], argv);
  _exit(127);
}

pid_t Fork(const std::vector<std::string>& argv, const std::string& log_file) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const int log = open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return -1;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) BecomeChild(arguments.data(), log, parent);
  close(log);
  return child;
}

}  // namespace

Spawner::Spawner() : thread_([this] { Run(); }) {}

Spawner::~Spawner() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyOne();
  thread_.join();
}

pid_t Spawner::Spawn(const std::vector<std::string>& argv, const std::string& log_file) {
  std::packaged_task<pid_t()> job([argv, log_file] { return Fork(argv, log_file); });
  std::future<pid_t> child = job.get_future();
  {
    base::MutexLock lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.NotifyOne();
  return child.get();
}

void Spawner::Run() {
  base::MutexLock lock(mutex_);
  while (!stopping_) {
    if (jobs_.empty()) {
      wake_.Wait(mutex_);
      continue;
    }
    std::packaged_task<pid_t()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.Unlock();
    job();
    lock.Lock();
  }
}

}  // namespace berth::store::etcd::testing
