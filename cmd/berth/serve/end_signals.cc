#include "berth/serve/end_signals.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#include "berth/exit_code.h"

namespace berth::cli {

EndSignals::EndSignals() {
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
  pthread_kill(thread_.native_handle(), SIGHUP);  // Only to wake it up.
  thread_.join();
}

EndSignals::Wanted EndSignals::Next() {
  const base::MutexLock lock(mutex_);
  running_ = true;
  while (!end_ && !reload_) changed_.Wait(mutex_);
  if (end_) return Wanted::kEnd;
  reload_ = false;
  return Wanted::kReload;
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

/// Ending at once is safe: what was acknowledged is in the store.
void EndSignals::TakeEnd() {
  if (running_ && !end_) {
    end_ = true;
    return;
  }
  std::fputs(running_ ? "berth serve: ends at once, as asked a second time\n"
                      : "berth serve: ends before it served, as asked\n",
             stderr);
  std::_Exit(running_ ? kFailed : kFine);
}

}  // namespace berth::cli
