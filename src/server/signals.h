// Wakes watches. Each scope has one signal, which all its watches share, and one waker that raises
// it. So a batch of events makes one call, however many clients watch. A watch holds its signal,
// and the last watch frees it.
//
// Threads: every function may be called from any thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "http/source.h"
#include "watch/hub.h"

namespace berth::server {

struct ScopeSignal {
  http::Signal signal;
  const std::function<void()> raise = [this] { signal.Notify(); };
};

/// Returns the waker for the cursors of the scope. It is the same for all of them.
inline watch::Waker WakerOf(const std::shared_ptr<ScopeSignal>& signal) {
  return {signal, &signal->raise};
}

class Signals {
 public:
  std::shared_ptr<ScopeSignal> For(const std::string& scope) EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  absl::flat_hash_map<std::string, std::weak_ptr<ScopeSignal>> signals_ GUARDED_BY(mutex_);
};

}  // namespace berth::server
