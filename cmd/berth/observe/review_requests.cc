#include "berth/observe/review_requests.h"

#include <fmt/format.h>

#include <chrono>
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
constexpr std::chrono::seconds kLongestSilence{10};

/// Returns the status of a review.
Result<Value> AskReview(kube::ApiClient& client, std::string_view path, const Value& review) {
  const auto answer = client.Post({.path = std::string(path), .read_timeout = kLongestSilence},
                                  codec::WriteJson(review));
  if (!answer) {
    base::Error error = answer.error().error;
    // The observer's own credentials are meant, and not those of its client.
    if (error.reason == Reason::kUnauthorized || error.reason == Reason::kForbidden) {
      error.reason = Reason::kServiceUnavailable;
    }
    return tl::unexpected(std::move(error));
  }
  const auto document = codec::ParseJson(answer->body);
  const Value* status = document ? codec::FindAt(*document, "status") : nullptr;
  if (status == nullptr) {
    return base::Fail(Reason::kInternalError,
                      fmt::format("the answer of {} to {} is not a review", client.Where(), path));
  }
  return *status;
}

}  // namespace

Result<Value> AskWhoHas(kube::ApiClient& client, const std::string& token) {
  const auto known = AskReview(client, kTokenReviews,
                               Object{{"apiVersion", "authentication.k8s.io/v1"},
                                      {"kind", "TokenReview"},
                                      {"spec", Object{{"token", token}}}});
  if (!known) return tl::unexpected(known.error());
  const Value* user = codec::FindAt(*known, "user");
  if (!codec::BoolAt(*known, "authenticated") || user == nullptr ||
      codec::StringAt(*user, "username").empty()) {
    return base::Fail(Reason::kUnauthorized, "the cluster does not know this token");
  }
  return *user;
}

Result<bool> AskWhetherMay(kube::ApiClient& client, const Value& user, std::string_view kind,
                           Object attributes) {
  Object spec{{"user", codec::StringAt(user, "username")}};
  spec.Set(std::string(kind), std::move(attributes));
  for (const char* field : {"uid", "groups", "extra"}) {
    if (const Value* value = codec::FindAt(user, field)) spec.Set(field, *value);
  }
  const auto access = AskReview(client, kAccessReviews,
                                Object{{"apiVersion", "authorization.k8s.io/v1"},
                                       {"kind", "SubjectAccessReview"},
                                       {"spec", std::move(spec)}});
  if (!access) return tl::unexpected(access.error());
  return codec::BoolAt(*access, "allowed") && !codec::BoolAt(*access, "denied");
}

}  // namespace berth::cli
