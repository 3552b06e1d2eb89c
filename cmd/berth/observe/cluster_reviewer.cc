#include "berth/observe/cluster_reviewer.h"

#include <fmt/format.h>

#include <utility>

#include "codec/json.h"
#include "codec/read.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;
using codec::Object;
using codec::Value;

constexpr std::string_view kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr std::string_view kAccessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
/// A client waits for the answer, so the cluster is not given long.
constexpr kube::Patience kReviewPatience = {
    .connections = 2, .busy_answers = 2, .longest_wait = std::chrono::seconds(2)};
constexpr std::chrono::seconds kLongestSilence{10};

Value TokenReviewOf(const std::string& token) {
  return Object{{"apiVersion", "authentication.k8s.io/v1"},
                {"kind", "TokenReview"},
                {"spec", Object{{"token", token}}}};
}

/// Asks whether a user may get a path. `user` is the status.user of a TokenReview.
Value AccessReviewOf(const Value& user, const std::string& path) {
  Object spec{{"user", codec::StringAt(user, "username")},
              {"nonResourceAttributes", Object{{"path", path}, {"verb", "get"}}}};
  for (const char* field : {"uid", "groups", "extra"}) {
    if (const Value* value = codec::FindAt(user, field)) spec.Set(field, *value);
  }
  return Object{{"apiVersion", "authorization.k8s.io/v1"},
                {"kind", "SubjectAccessReview"},
                {"spec", std::move(spec)}};
}

}  // namespace

ClusterReviewer::ClusterReviewer(const kube::Access& access)
    : client_(access, {.random = random_}, kReviewPatience) {}

Result<Value> ClusterReviewer::Review(std::string_view path, const Value& review) {
  const auto answer = client_.Post({.path = std::string(path), .read_timeout = kLongestSilence},
                                   codec::WriteJson(review));
  if (!answer) {
    base::Error error = answer.error().error;
    // The observer's own credentials are meant, and not the token of the client.
    if (error.reason == Reason::kUnauthorized) error.reason = Reason::kServiceUnavailable;
    return tl::unexpected(std::move(error));
  }
  const auto document = codec::ParseJson(answer->body);
  const Value* status = document ? codec::FindAt(*document, "status") : nullptr;
  if (status == nullptr) {
    return base::Fail(Reason::kInternalError,
                      fmt::format("the answer of {} to {} is not a review", client_.Where(), path));
  }
  return *status;
}

Result<bool> ClusterReviewer::MayRead(const std::string& token, const std::string& path) {
  const base::MutexLock lock(mutex_);
  const auto known = Review(kTokenReviews, TokenReviewOf(token));
  if (!known) return tl::unexpected(known.error());
  const Value* user = codec::FindAt(*known, "user");
  if (!codec::BoolAt(*known, "authenticated") || user == nullptr ||
      codec::StringAt(*user, "username").empty()) {
    return base::Fail(Reason::kUnauthorized, "the cluster does not know this token");
  }
  const auto access = Review(kAccessReviews, AccessReviewOf(*user, path));
  if (!access) return tl::unexpected(access.error());
  return codec::BoolAt(*access, "allowed") && !codec::BoolAt(*access, "denied");
}

}  // namespace berth::cli
