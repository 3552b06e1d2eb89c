#include "server/in_flight.h"

#include <algorithm>

namespace berth::server {

std::optional<InFlight::Slot> InFlight::Take(const std::string& user) {
  base::MutexLock lock(mutex_);
  const auto found = by_user_.find(user);
  const size_t held = found == by_user_.end() ? 0 : found->second;
  if (limit_ > 0) {
    if (count_ >= limit_) return std::nullopt;
    const size_t users = by_user_.size() + (held == 0 ? 1 : 0);
    const size_t share = std::max<size_t>(limit_ / users, 1);
    if (users > 1 && count_ >= limit_ / 2 && held >= share) return std::nullopt;
    // The last slots are kept for new users, who would find no slot if one user had taken all.
    const size_t kept = limit_ > 1 ? std::max<size_t>(limit_ / 10, 1) : 0;
    if (count_ >= limit_ - kept && held >= std::max<size_t>(limit_ / (users + 1), 1)) {
      return std::nullopt;
    }
  }
  ++count_;
  ++by_user_[user];
  return Slot(this, user);
}

size_t InFlight::Count() const {
  base::MutexLock lock(mutex_);
  return count_;
}

void InFlight::Release(const std::string& user) {
  base::MutexLock lock(mutex_);
  --count_;
  const auto found = by_user_.find(user);
  if (--found->second == 0) by_user_.erase(found);
}

}  // namespace berth::server
