#include "kube/exec_answer.h"

#include <fmt/format.h>

#include <utility>

#include "base/base64.h"
#include "base/go_text.h"
#include "codec/json.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "codec/yaml_read.h"
#include "kube/user_credentials.h"

namespace berth::kube {
namespace {

using base::Result;
using codec::Value;

constexpr std::string_view kExecKind = "ExecCredential";
constexpr codec::JsonLimits kAnswerLimits{.bytes = size_t{2} << 20, .depth = 64};

tl::unexpected<base::Error> BadAnswer(std::string why) {
  return base::Fail(base::Reason::kInvalid, std::move(why));
}

/// Reads JSON, or YAML as kubectl does, which makes clearer errors for JSON.
Result<Value> ParseDocument(std::string_view output) {
  if (base::GoTrimSpace(output).starts_with('{')) return codec::ParseJson(output, kAnswerLimits);
  auto document = codec::ParseYaml(output, kAnswerLimits);
  if (!document) return tl::unexpected(std::move(document.error()));
  return std::move(document->value);
}

Result<std::optional<base::WallTime>> ReadExpiry(const Value& status) {
  const Value* expiry = codec::FindAt(status, "expirationTimestamp");
  if (expiry == nullptr || expiry->IsNull()) return std::nullopt;
  const auto time = codec::ParseTime(codec::Text(expiry));
  if (!time) {
    return BadAnswer(
        fmt::format("printed the expirationTimestamp {}, which is not a time like "
                    "2026-11-15T04:35:00Z",
                    base::OnlyVisible(codec::WriteJson(*expiry), 100)));
  }
  return time;
}

Result<void> CheckStatus(const Value& status) {
  for (const char* key : {"token", "clientCertificateData", "clientKeyData"}) {
    const Value* value = status.Find(key);
    if (value != nullptr && !value->IsNull() && value->AsString() == nullptr) {
      return BadAnswer(fmt::format("printed a status.{} that is not a text", key));
    }
  }
  const std::string_view token = codec::StringAt(status, "token");
  const std::string_view certificate = codec::StringAt(status, "clientCertificateData");
  const std::string_view key = codec::StringAt(status, "clientKeyData");
  if (token.empty() && certificate.empty() && key.empty()) {
    return BadAnswer("printed neither a token nor a certificate with its key");
  }
  if (certificate.empty() != key.empty()) {
    return BadAnswer(certificate.empty() ? "printed a key without its certificate"
                                         : "printed a certificate without its key");
  }
  if (!IsSendableToken(token)) {
    return BadAnswer("printed a token with spaces or other characters that no token has");
  }
  for (const std::string_view pem : {certificate, key}) {
    if (!pem.empty() && pem.find("-----BEGIN ") == std::string_view::npos) {
      return BadAnswer("printed a certificate or a key that is not PEM");
    }
  }
  return {};
}

}  // namespace

Result<ExecAnswer> ParseExecAnswer(std::string_view output, std::string_view api_version) {
  if (base::GoTrimSpace(output).empty()) return BadAnswer("printed nothing");
  const auto document = ParseDocument(output);
  if (!document) {
    return BadAnswer(fmt::format("did not print an {}: {}", kExecKind, document.error().message));
  }
  if (codec::StringAt(*document, "kind") != kExecKind) {
    return BadAnswer(fmt::format("did not print an object of the kind {}", kExecKind));
  }
  if (const auto version = codec::StringAt(*document, "apiVersion"); version != api_version) {
    return BadAnswer(
        fmt::format("answered with the API version {}, but the kubeconfig says {}; "
                    "make exec.apiVersion and the plugin agree",
                    base::GoQuoted(version.substr(0, 100)), base::GoQuoted(api_version)));
  }
  const Value* status = document->Find("status");
  if (status == nullptr || status->AsObject() == nullptr) {
    return BadAnswer("printed no status, which has to contain the credential");
  }
  if (auto checked = CheckStatus(*status); !checked) return tl::unexpected(checked.error());
  const auto expires = ReadExpiry(*status);
  if (!expires) return tl::unexpected(expires.error());
  ExecAnswer answer{.identity = {}, .expires = *expires};
  answer.identity.token = codec::StringAt(*status, "token");
  answer.identity.certificate_pem = codec::StringAt(*status, "clientCertificateData");
  answer.identity.key_pem = codec::StringAt(*status, "clientKeyData");
  return answer;
}

std::string ExecInfo(std::string_view api_version, bool interactive, const Value& cluster) {
  Value spec;
  if (!cluster.IsNull()) spec.Set("cluster", cluster);
  spec.Set("interactive", interactive);
  Value info;
  info.Set("kind", kExecKind);
  info.Set("apiVersion", api_version);
  info.Set("spec", std::move(spec));
  return codec::WriteJson(info);
}

Value ExecClusterInfo(const ClusterSettings& cluster, std::string_view authority_pem) {
  Value info;
  info.Set("server", cluster.server);
  if (!cluster.tls_server_name.empty()) info.Set("tls-server-name", cluster.tls_server_name);
  if (cluster.insecure) info.Set("insecure-skip-tls-verify", true);
  if (!authority_pem.empty()) {
    info.Set("certificate-authority-data", base::Base64(authority_pem));
  }
  if (!cluster.proxy_url.empty()) info.Set("proxy-url", cluster.proxy_url);
  if (cluster.disable_compression) info.Set("disable-compression", true);
  info.Set("config", cluster.exec_config);  // Null if not set, as kubectl writes it.
  return info;
}

}  // namespace berth::kube
