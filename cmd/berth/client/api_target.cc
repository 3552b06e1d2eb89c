#include "berth/client/api_target.h"

#include <utility>

#include "kube/find_access.h"
#include "kube/login.h"
#include "kube/surroundings.h"

namespace berth::cli {

base::Result<ApiTarget> FindTarget(const std::string& kubeconfig) {
  const auto access = kube::FindAccess({.kubeconfig = kubeconfig}, kube::RealSurroundings());
  if (!access) return tl::unexpected(access.error());
  kube::Identity identity;
  if (access->credentials != nullptr) {
    auto got = access->credentials->Get();
    if (!got) return tl::unexpected(std::move(got.error()));
    identity = *std::move(got);
  }
  return ApiTarget{.url = access->url,
                   .client = kube::ClientOptionsOf(*access, identity),
                   .headers = kube::HeadersOf(*access, identity),
                   .path_prefix = access->path_prefix};
}

}  // namespace berth::cli
