// Authentication and authorization. A user is the subject of a client certificate, or the owner of
// a bearer token from a file in kube-apiserver's format. How long a comparison of tokens takes does
// not reveal how much of a token was right.
//
// Threads: any may call Authenticate, also while SetTokens replaces the tokens.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "server/attributes.h"

namespace berth::server {

/// Users by the SHA-256 of their tokens, so that a lookup reveals nothing about other tokens.
using TokenTable = std::map<std::string, User>;

/// Parses the lines of a --token-auth-file: `token,user,uid[,"group1,group2"]`.
base::Result<TokenTable> ParseTokens(std::string_view csv, const std::string& file);
void AddToken(TokenTable& table, std::string_view token, User user);

/// The subject of a client certificate, after its chain was verified.
struct CertificateIdentity {
  std::string common_name;
  std::vector<std::string> organizations;
};

class Authenticator {
 public:
  explicit Authenticator(TokenTable tokens) { SetTokens(std::move(tokens)); }

  void SetTokens(TokenTable tokens) EXCLUDES(mutex_);

  /// Returns the user, system:anonymous if there are no credentials, or kUnauthorized if they are
  /// wrong.
  base::Result<User> Authenticate(std::string_view authorization,
                                  const std::optional<CertificateIdentity>& certificate) const
      EXCLUDES(mutex_);

 private:
  mutable base::Mutex mutex_;
  std::shared_ptr<const TokenTable> tokens_ GUARDED_BY(mutex_);
};

/// Returns an error if the user is not allowed to do it. Members of system:masters may do
/// everything. Members of system:monitoring may read metrics. Every authenticated user may read
/// discovery and OpenAPI. Everyone may read health and version.
std::optional<base::Error> Authorize(const Attributes& attributes);

}  // namespace berth::server
