// Asks a cluster who may read from an observer, with a TokenReview and a SubjectAccessReview. The
// observer needs the rights of the ClusterRole system:auth-delegator for it.
#pragma once

#include <string>

#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "berth/observe/reviewer.h"
#include "kube/access.h"
#include "kube/api_client.h"

namespace berth::cli {

class ClusterReviewer final : public Reviewer {
 public:
  explicit ClusterReviewer(const kube::Access& access);

  /// Fails with kUnauthorized if the cluster does not know the token.
  base::Result<bool> MayRead(const std::string& token, const std::string& path) override
      EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;  // One review at a time, because there is one connection.
  base::SeededRandom random_ GUARDED_BY(mutex_) = base::SeededRandom::FromKernel();
  kube::ApiClient client_ GUARDED_BY(mutex_);
};

}  // namespace berth::cli
