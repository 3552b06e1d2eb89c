// Receives SIGTERM, SIGINT and SIGHUP on a thread of its own. They are blocked in all other
// threads.
//
// While the server runs, the first SIGTERM or SIGINT asks for a clean shutdown, and SIGHUP for a
// reload of certificates and tokens. The process exits at once on a second SIGTERM or SIGINT,
// because the operator does not want to wait, and on a SIGTERM or SIGINT before the server runs,
// because there is nothing to finish. The server itself may ask to start over.
#pragma once

#include <csignal>
#include <thread>

#include "base/mutex.h"

namespace berth::cli {

class EndSignals {
 public:
  /// Must be created before any other thread, because threads inherit the blocked signals. Messages
  /// begin with the name of the command.
  explicit EndSignals(const char* command);
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  enum class Wanted { kEnd, kReload, kStartOver };
  /// Says that the server starts, for the first time or again. Until the next call of Next it does
  /// not count as running. Forgets earlier calls of StartOver.
  void Begin() EXCLUDES(mutex_);
  /// Says that the server counts as running from now on. To be called before clients can know it,
  /// so that a signal ends their requests in order.
  void Ready() EXCLUDES(mutex_);
  /// Waits for a signal, or for StartOver. The server counts as running from the call on.
  Wanted Next() EXCLUDES(mutex_);
  /// Makes Next return kStartOver. May be called from any thread.
  void StartOver() EXCLUDES(mutex_);

 private:
  void Run() EXCLUDES(mutex_);
  void TakeEnd() REQUIRES(mutex_);

  const char* const command_;
  sigset_t signals_{};
  base::Mutex mutex_;
  base::CondVar changed_;
  bool running_ GUARDED_BY(mutex_) = false;
  bool end_ GUARDED_BY(mutex_) = false;
  bool reload_ GUARDED_BY(mutex_) = false;
  bool start_over_ GUARDED_BY(mutex_) = false;
  bool over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace berth::cli
