// SIGTERM, SIGINT and SIGHUP, taken by one thread of its own; all others have them blocked.
//
// While the server runs, the first SIGTERM or SIGINT asks for a clean end and SIGHUP for fresh
// certificates and tokens. Before it runs there is nothing to finish, and a second SIGTERM or
// SIGINT is from somebody who does not want to wait: then the process ends at once.
#pragma once

#include <csignal>
#include <thread>

#include "base/mutex.h"

namespace berth::cli {

class EndSignals {
 public:
  /// Make it before any other thread, since threads inherit what is blocked.
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  enum class Wanted { kEnd, kReload };
  /// Waits for it. From the first call on, the server counts as running.
  Wanted Next() EXCLUDES(mutex_);

 private:
  void Run() EXCLUDES(mutex_);
  void TakeEnd() REQUIRES(mutex_);

  sigset_t signals_{};
  base::Mutex mutex_;
  base::CondVar changed_;
  bool running_ GUARDED_BY(mutex_) = false;
  bool end_ GUARDED_BY(mutex_) = false;
  bool reload_ GUARDED_BY(mutex_) = false;
  bool over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace berth::cli
