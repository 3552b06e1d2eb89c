// Starts processes from a test so that they die with it. The kernel ties that promise
// (PR_SET_PDEATHSIG) to the thread that forked, not to the process. A Spawner has such a thread, so
// that any short-lived thread may start a server.
#pragma once

#include <sys/types.h>

#include <deque>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace berth::store::etcd::testing {

class Spawner {
 public:
  Spawner();
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  /// Runs `argv` (found through PATH) and appends all its output to `log_file`. A command that
  /// cannot be run exits with 127. The process is killed when the Spawner is destroyed.
  pid_t Spawn(const std::vector<std::string>& argv, const std::string& log_file);

 private:
  void Run();

  base::Mutex mutex_;
  base::CondVar wake_;
  std::deque<std::packaged_task<pid_t()>> jobs_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace berth::store::etcd::testing
