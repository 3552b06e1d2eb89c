#include "server/signals.h"

namespace berth::server {

std::shared_ptr<http::Signal> Signals::For(const std::string& scope) {
  base::MutexLock lock(mutex_);
  std::weak_ptr<http::Signal>& kept = signals_[scope];
  if (auto signal = kept.lock()) return signal;
  auto signal = std::make_shared<http::Signal>();
  kept = signal;
  // Those nobody holds any more go when the table has doubled: each costs a little at most twice.
  if (signals_.size() > 64 && (signals_.size() & (signals_.size() - 1)) == 0) {
    absl::erase_if(signals_, [](const auto& entry) { return entry.second.expired(); });
  }
  return signal;
}

}  // namespace berth::server
