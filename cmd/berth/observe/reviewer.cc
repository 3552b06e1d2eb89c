#include "berth/observe/reviewer.h"

namespace berth::cli {

base::Result<bool> CachingReviewer::MayRead(const std::string& token, const std::string& path) {
  const std::pair key{token, path};
  {
    const base::MutexLock lock(mutex_);
    const auto kept = answers_.find(key);
    if (kept != answers_.end() && clock_.Steady() < kept->second.until) return kept->second.may;
  }
  const auto may = reviewer_.MayRead(token, path);
  if (!may) return may;
  const base::MutexLock lock(mutex_);
  const base::SteadyTime now = clock_.Steady();
  if (answers_.size() >= kMaxAnswers) {
    std::erase_if(answers_, [now](const auto& each) { return each.second.until <= now; });
  }
  // Many tokens at once are an attack. Forgetting all of them costs the honest clients one review.
  if (answers_.size() >= kMaxAnswers) answers_.clear();
  answers_[key] = {.may = *may, .until = now + kKeep};
  return may;
}

}  // namespace berth::cli
