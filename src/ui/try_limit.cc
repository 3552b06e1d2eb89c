#include "ui/try_limit.h"

#include <algorithm>
#include <chrono>

namespace berth::ui {

TryLimit::TryLimit(TryLimits limits) : limits_(limits), all_{.left = limits.of_all.burst} {}

void TryLimit::Fill(Bucket& bucket, const TryRate& rate, base::SteadyTime now) {
  const double seconds = std::chrono::duration<double>(now - bucket.at).count();
  bucket.left = std::min(rate.burst, bucket.left + seconds * rate.per_second);
  bucket.at = now;
}

void TryLimit::ForgetOne(base::SteadyTime now) {
  for (auto& [name, bucket] : clients_) Fill(bucket, limits_.of_client, now);
  const auto most = std::ranges::max_element(
      clients_, [](const auto& a, const auto& b) { return a.second.left < b.second.left; });
  if (most != clients_.end()) clients_.erase(most);
}

bool TryLimit::Take(const std::string& client, base::SteadyTime now) {
  if (!clients_.contains(client) && clients_.size() >= limits_.clients) ForgetOne(now);
  const auto [at, is_new] =
      clients_.try_emplace(client, Bucket{.left = limits_.of_client.burst, .at = now});
  Bucket& own = at->second;
  Fill(own, limits_.of_client, now);
  Fill(all_, limits_.of_all, now);
  // A client without tries does not use up those of others.
  if (own.left < 1 || all_.left < 1) return false;
  own.left -= 1;
  all_.left -= 1;
  return true;
}

}  // namespace berth::ui
