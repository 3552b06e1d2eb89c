#include "berth/serve/end_signals.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "berth/exit_code.h"

namespace berth::cli {

EndSignals::EndSignals(const char* command) : command_(command) {
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { Run(); });
}

EndSignals::~EndSignals() {
  {
    const base::MutexLock lock(mutex_);
    over_ = true;
  }
  pthread_kill(thread_.native_handle(), SIGHUP);  // Only wakes the thread.
  thread_.join();
}

void EndSignals::Begin() {
  const base::MutexLock lock(mutex_);
  running_ = false;
  start_over_ = false;
}

void EndSignals::Ready() {
  const base::MutexLock lock(mutex_);
  running_ = true;
}

EndSignals::Wanted EndSignals::Next() {
  const base::MutexLock lock(mutex_);
  running_ = true;
  while (!end_ && !reload_ && !start_over_) changed_.Wait(mutex_);
  if (end_) return Wanted::kEnd;
  if (start_over_) return Wanted::kStartOver;
  reload_ = false;
  return Wanted::kReload;
}

void EndSignals::StartOver() {
  const base::MutexLock lock(mutex_);
  start_over_ = true;
  changed_.NotifyAll();
}

void EndSignals::Run() {
  while (true) {
    int signal = 0;
    if (sigwait(&signals_, &signal) != 0) continue;
    const base::MutexLock lock(mutex_);
    if (over_) return;
    if (signal == SIGHUP) {
      reload_ = true;
    } else {
      TakeEnd();
    }
    changed_.NotifyAll();
  }
}

/// Exiting at once is safe, because acknowledged writes are in the store.
void EndSignals::TakeEnd() {
  if (running_ && !end_) {
    end_ = true;
    return;
  }
  std::fprintf(stderr, "berth %s: %s\n", command_,
               running_ ? "second signal, exiting at once" : "stopped before it was ready");
  std::_Exit(running_ ? kFailed : kFine);
}

}  // namespace berth::cli
