// Who a request comes from: a client certificate's subject, or a bearer token from a file in
// kube-apiserver's form. Tokens are compared without a hint at how much of them was right.
//
// Threads: Authenticate from any; Reload swaps the tokens meanwhile.
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

/// Users by the SHA-256 of their tokens: finding one tells nothing about the others.
using TokenTable = std::map<std::string, User>;

/// Lines `token,user,uid[,"group1,group2"]`, as --token-auth-file has them.
base::Result<TokenTable> ParseTokens(std::string_view csv, const std::string& file);
void AddToken(TokenTable& table, std::string_view token, User user);

/// What a client certificate says, once the chain was verified.
struct CertificateIdentity {
  std::string common_name;
  std::vector<std::string> organizations;
};

class Authenticator {
 public:
  explicit Authenticator(TokenTable tokens) { SetTokens(std::move(tokens)); }

  void SetTokens(TokenTable tokens) EXCLUDES(mutex_);

  /// The user; system:anonymous when there are no credentials; kUnauthorized when there are, but
  /// wrong ones.
  base::Result<User> Authenticate(std::string_view authorization,
                                  const std::optional<CertificateIdentity>& certificate) const
      EXCLUDES(mutex_);

 private:
  mutable base::Mutex mutex_;
  std::shared_ptr<const TokenTable> tokens_ GUARDED_BY(mutex_);
};

/// Whether the user may do it: system:masters everything; others what every authenticated user may
/// read (discovery, versions, health, OpenAPI); anybody health and version.
std::optional<base::Error> Authorize(const Attributes& attributes);

}  // namespace berth::server
