#include "server/authenticate.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <utility>
#include <vector>

namespace berth::server {
namespace {

/// Looks up the algorithm once and keeps one context per thread, because both take longer than
/// hashing a token.
std::string Digest(std::string_view token) {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(
      EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;  // NOLINT: filled below.
  unsigned size = 0;
  EVP_DigestInit_ex2(context.get(), algorithm, nullptr);
  EVP_DigestUpdate(context.get(), token.data(), token.size());
  EVP_DigestFinal_ex(context.get(), digest.data(), &size);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

/// Returns the fields of one line of CSV, with quotes as in RFC 4180. Returns nullopt if a quote is
/// not closed.
std::optional<std::vector<std::string>> CsvFields(std::string_view line) {
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"') {
        field.push_back(c);
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        field.push_back('"');
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"' && field.empty()) {
      quoted = true;
    } else if (c == ',') {
      fields.push_back(std::exchange(field, {}));
    } else {
      field.push_back(c);
    }
  }
  if (quoted) return std::nullopt;
  fields.push_back(std::move(field));
  return fields;
}

std::vector<std::string> SplitGroups(std::string_view text) {
  std::vector<std::string> groups;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) groups.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return groups;
}

base::Error Unauthorized() {
  return {.reason = base::Reason::kUnauthorized, .message = "Unauthorized"};
}

bool IsHealthOrVersion(std::string_view path) {
  for (const std::string_view each : {"/healthz", "/livez", "/readyz", "/version"}) {
    if (path == each || path.starts_with(std::string(each) + "/")) return true;
  }
  return false;
}

bool IsForEverybodyKnown(std::string_view path) {
  if (path == "/" || path == "/api" || path == "/apis") return true;
  for (const std::string_view each : {"/api/", "/apis/", "/openapi"}) {
    if (path.starts_with(each)) return true;
  }
  return false;
}

base::Error Forbidden(const Attributes& attributes) {
  if (!attributes.is_resource) {
    return {.reason = base::Reason::kForbidden,
            .message = fmt::format("forbidden: User \"{}\" cannot {} path \"{}\"",
                                   attributes.user.name, attributes.verb, attributes.path),
            .details = base::Details{}};
  }
  std::string resource = attributes.resource;
  if (!attributes.subresource.empty()) resource += "/" + attributes.subresource;
  const std::string scope = attributes.name_space.empty()
                                ? std::string("at the cluster scope")
                                : fmt::format("in the namespace \"{}\"", attributes.name_space);
  return {.reason = base::Reason::kForbidden,
          .message = fmt::format(
              "{}{} is forbidden: User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}",
              attributes.group.empty() ? attributes.resource
                                       : attributes.resource + "." + attributes.group,
              attributes.name.empty() ? "" : fmt::format(" \"{}\"", attributes.name),
              attributes.user.name, attributes.verb, resource, attributes.group, scope),
          .details = base::Details{
              .name = attributes.name, .group = attributes.group, .kind = attributes.resource}};
}

}  // namespace

void AddToken(TokenTable& table, std::string_view token, User user) {
  table.insert_or_assign(Digest(token), std::move(user));
}

base::Result<TokenTable> ParseTokens(std::string_view csv, const std::string& file) {
  TokenTable table;
  size_t number = 0;
  while (!csv.empty()) {
    const size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const auto fields = CsvFields(line);
    if (!fields) {
      return base::Fail(
          base::Reason::kBadRequest,
          fmt::format("token file '{}': line {}: a quote is not closed", file, number));
    }
    if (fields->size() < 3) {
      return base::Fail(base::Reason::kBadRequest,
                        fmt::format("token file '{}' must have at least 3 columns (token, user "
                                    "name, user uid), found {} in line {}",
                                    file, fields->size(), number));
    }
    if (fields->at(0).empty()) {
      return base::Fail(base::Reason::kBadRequest,
                        fmt::format("token file '{}': line {}: empty token", file, number));
    }
    User user{.name = fields->at(1), .uid = fields->at(2)};
    if (fields->size() > 3) user.groups = SplitGroups(fields->at(3));
    AddToken(table, fields->at(0), std::move(user));
  }
  return table;
}

void Authenticator::SetTokens(TokenTable tokens) {
  for (auto& [digest, user] : tokens) user.groups.emplace_back(kAuthenticatedGroup);
  auto shared = std::make_shared<const TokenTable>(std::move(tokens));
  base::MutexLock lock(mutex_);
  tokens_ = std::move(shared);
}

base::Result<User> Authenticator::Authenticate(
    std::string_view authorization, const std::optional<CertificateIdentity>& certificate) const {
  if (certificate) {
    User user{.name = certificate->common_name, .uid = {}, .groups = certificate->organizations};
    user.groups.emplace_back(kAuthenticatedGroup);
    return user;
  }
  if (authorization.empty()) return User{.name = kAnonymous, .groups = {kUnauthenticatedGroup}};
  constexpr std::string_view kScheme = "bearer ";
  const bool bearer =
      authorization.size() > kScheme.size() &&
      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                 [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  if (!bearer) return tl::unexpected(Unauthorized());
  std::shared_ptr<const TokenTable> tokens;
  {
    base::MutexLock lock(mutex_);
    tokens = tokens_;
  }
  const auto found = tokens->find(Digest(authorization.substr(kScheme.size())));
  if (found == tokens->end()) return tl::unexpected(Unauthorized());
  return found->second;
}

std::optional<base::Error> Authorize(const Attributes& attributes) {
  if (attributes.user.In(kMastersGroup)) return std::nullopt;
  const bool reads = attributes.verb == "get" && !attributes.is_resource;
  if (reads && IsHealthOrVersion(attributes.path)) return std::nullopt;
  if (reads && attributes.path == "/metrics" && attributes.user.In(kMonitoringGroup)) {
    return std::nullopt;
  }
  if (attributes.user.In(kUnauthenticatedGroup)) return Unauthorized();
  if (reads && IsForEverybodyKnown(attributes.path)) return std::nullopt;
  return Forbidden(attributes);
}

}  // namespace berth::server
