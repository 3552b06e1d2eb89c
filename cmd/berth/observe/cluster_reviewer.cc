#include "berth/observe/cluster_reviewer.h"

#include "berth/observe/review_requests.h"

namespace berth::cli {
namespace {

/// A client waits for the answer, so the cluster is not given long.
constexpr kube::Patience kReviewPatience = {
    .connections = 2, .busy_answers = 2, .longest_wait = std::chrono::seconds(2)};

}  // namespace

ClusterReviewer::ClusterReviewer(const kube::Access& access)
    : client_(access, {.random = random_}, kReviewPatience) {}

base::Result<bool> ClusterReviewer::MayRead(const std::string& token, const std::string& path) {
  const base::MutexLock lock(mutex_);
  const auto user = AskWhoHas(client_, token);
  if (!user) return tl::unexpected(user.error());
  return AskWhetherMay(client_, *user, "nonResourceAttributes",
                       codec::Object{{"path", path}, {"verb", "get"}});
}

}  // namespace berth::cli
