// The reviews that an observer asks a cluster for: who has a token, and what a user may do.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/value.h"
#include "kube/api_client.h"

namespace berth::cli {

/// Returns the `user` of a TokenReview's status. Fails with kUnauthorized if the cluster does not
/// know the token.
base::Result<codec::Value> AskWhoHas(kube::ApiClient& client, const std::string& token);

/// Returns whether a user, as a TokenReview tells it, may do what the attributes say. `kind` is
/// "nonResourceAttributes" or "resourceAttributes".
base::Result<bool> AskWhetherMay(kube::ApiClient& client, const codec::Value& user,
                                 std::string_view kind, codec::Object attributes);

}  // namespace berth::cli
