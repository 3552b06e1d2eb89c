// Callbacks of writes that wait. The ledger collects them under its lock and calls them after it
// has released the lock.
#pragma once

#include <functional>
#include <vector>

namespace berth::allocation {

using Callback = std::function<void()>;
using Callbacks = std::vector<Callback>;

inline void CallAll(const Callbacks& callbacks) {
  for (const Callback& callback : callbacks) callback();
}

}  // namespace berth::allocation
