// Decides who may read from an observer that others can reach. The cluster decides: a TokenReview
// says who the client is, and a SubjectAccessReview whether that user may get the path.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace berth::cli {

/// Threads: any.
class Reviewer {
 public:
  virtual ~Reviewer() = default;

  /// Returns whether the bearer of the token may get the path. Fails if the cluster does not
  /// answer. May block.
  virtual base::Result<bool> MayRead(const std::string& token, const std::string& path) = 0;
};

/// Keeps answers for a few seconds, so that scrapes do not load the API server. Errors are not
/// kept.
class CachingReviewer final : public Reviewer {
 public:
  static constexpr std::chrono::seconds kKeep{10};
  static constexpr size_t kMaxAnswers = 1000;

  /// Both must outlive this.
  CachingReviewer(Reviewer& reviewer, const base::Clock& clock)
      : reviewer_(reviewer), clock_(clock) {}

  base::Result<bool> MayRead(const std::string& token, const std::string& path) override
      EXCLUDES(mutex_);

 private:
  struct Kept {
    bool may = false;
    base::SteadyTime until = {};
  };

  Reviewer& reviewer_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Kept> answers_ GUARDED_BY(mutex_);
};

}  // namespace berth::cli
