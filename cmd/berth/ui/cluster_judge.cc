#include "berth/ui/cluster_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/random.h"
#include "berth/observe/review_requests.h"
#include "codec/read.h"
#include "kube/api_client.h"

namespace berth::cli {
namespace {

using codec::Object;
using codec::Value;

constexpr std::chrono::seconds kLongestReview{5};
constexpr kube::Patience kJudgePatience = {
    .connections = 2, .busy_answers = 2, .longest_wait = std::chrono::seconds(2)};

/// Returns a user as a TokenReview would tell it.
Value UserOf(const ui::Credential& credential) {
  codec::Array groups;
  for (const std::string& group : credential.groups) groups.emplace_back(group);
  groups.emplace_back("system:authenticated");  // As for every user that is known.
  return Object{{"username", credential.user}, {"groups", std::move(groups)}};
}

}  // namespace

ClusterJudge::ClusterJudge(kube::Access access) : access_(std::move(access)) {
  access_.client.connect_timeout =
      std::min<std::chrono::nanoseconds>(access_.client.connect_timeout, kLongestReview);
  const bool shorter =
      access_.request_timeout.count() > 0 && access_.request_timeout < kLongestReview;
  if (!shorter) access_.request_timeout = kLongestReview;
}

base::Result<std::string> ClusterJudge::Admit(const ui::Credential& credential) {
  auto random = base::SeededRandom::FromKernel();
  kube::ApiClient client(access_, {.random = random, .stop = stop_}, kJudgePatience);
  Value user = UserOf(credential);
  if (!credential.token.empty()) {
    auto known = AskWhoHas(client, credential.token);
    if (!known) return tl::unexpected(known.error());
    user = *std::move(known);
  }
  std::string name(codec::StringAt(user, "username"));
  const auto may =
      AskWhetherMay(client, user, "resourceAttributes",
                    Object{{"verb", "list"}, {"version", "v1"}, {"resource", "services"}});
  if (!may) return tl::unexpected(may.error());
  if (*may) return name;
  return base::Fail(base::Reason::kForbidden,
                    fmt::format("{} may not list the Services of all namespaces, which the page "
                                "shows; allow list on services cluster-wide",
                                name));
}

}  // namespace berth::cli
