#include "server/signals.h"

namespace berth::server {

std::shared_ptr<ScopeSignal> Signals::For(const std::string& scope) {
  base::MutexLock lock(mutex_);
  std::weak_ptr<ScopeSignal>& kept = signals_[scope];
  if (auto signal = kept.lock()) return signal;
  auto signal = std::make_shared<ScopeSignal>();
  kept = signal;
  // Signals that no watch holds any more are removed each time the table has doubled, so that the
  // cost per signal stays small.
  if (signals_.size() > 64 && (signals_.size() & (signals_.size() - 1)) == 0) {
    absl::erase_if(signals_, [](const auto& entry) { return entry.second.expired(); });
  }
  return signal;
}

}  // namespace berth::server
