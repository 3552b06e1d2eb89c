#include "kube/user_credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/go_text.h"

namespace berth::kube {
namespace {

using base::Result;

constexpr std::chrono::minutes kReadEvery{1};

}  // namespace

bool IsSendableToken(std::string_view token) {
  return std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Result<std::string> LoadPem(const PemSource& source, std::string_view what, std::string_view where,
                            const FileReader& read_file) {
  if (!source.pem.empty() || source.path.empty()) return source.pem;
  auto content = read_file(source.path);
  if (!content) {
    return BadEntry(
        where, fmt::format("{}: cannot read {}: {}", what, source.path, content.error().message));
  }
  if (content->find("-----BEGIN ") == std::string::npos) {
    return BadEntry(where, fmt::format("{}: {} does not contain PEM (a block that begins with "
                                       "-----BEGIN)",
                                       what, source.path));
  }
  return content;
}

UserCredentials::UserCredentials(UserSettings user, const Surroundings& around)
    : user_(std::move(user)), read_file_(around.read_file), clock_(*around.clock) {}

bool UserCredentials::HasFiles() const {
  const auto from_file = [](const PemSource& source) {
    return source.pem.empty() && !source.path.empty();
  };
  return !user_.token_file.empty() || from_file(user_.certificate) || from_file(user_.key);
}

Result<std::string> UserCredentials::ReadToken() const {
  if (user_.token_file.empty()) return user_.token;
  const auto content = read_file_(user_.token_file);
  std::string token(content ? base::GoTrimSpace(*content) : std::string_view());
  if (token.empty() && !user_.token.empty()) return user_.token;
  if (!content) {
    return BadEntry(user_.where, fmt::format("tokenFile: cannot read {}: {}", user_.token_file,
                                             content.error().message));
  }
  if (token.empty()) {
    return BadEntry(user_.where, fmt::format("tokenFile: {} is empty", user_.token_file));
  }
  return token;
}

Result<Identity> UserCredentials::Read() const {
  Identity identity{.token = {}, .user = user_.username, .password = user_.password};
  auto token = ReadToken();
  if (!token) return tl::unexpected(std::move(token.error()));
  if (!IsSendableToken(*token)) {
    return BadEntry(user_.where, fmt::format("the token{} contains spaces or other characters that "
                                             "no token has",
                                             user_.token_file.empty() ? std::string()
                                                                      : " in " + user_.token_file));
  }
  auto certificate = LoadPem(user_.certificate, "client-certificate", user_.where, read_file_);
  if (!certificate) return tl::unexpected(std::move(certificate.error()));
  auto key = LoadPem(user_.key, "client-key", user_.where, read_file_);
  if (!key) return tl::unexpected(std::move(key.error()));
  identity.token = *std::move(token);
  identity.certificate_pem = *std::move(certificate);
  identity.key_pem = *std::move(key);
  return identity;
}

Result<Identity> UserCredentials::Get() {
  base::MutexLock lock(mutex_);
  const base::SteadyTime now = clock_.Steady();
  if (identity_ && (!HasFiles() || now - read_at_ < kReadEvery)) return *identity_;
  auto identity = Read();
  if (!identity && !identity_) return identity;
  if (identity) {
    identity_ = *std::move(identity);
    read_at_ = now;
  }
  return *identity_;
}

bool UserCredentials::OnUnauthorized(const Identity& used) {
  base::MutexLock lock(mutex_);
  if (identity_ && *identity_ != used) return true;
  if (!HasFiles()) return false;
  auto identity = Read();
  if (!identity || *identity == used) return false;
  identity_ = *std::move(identity);
  read_at_ = clock_.Steady();
  return true;
}

}  // namespace berth::kube
