#include "berth/serve/credentials.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "base/base64.h"
#include "berth/files.h"
#include "http/certificates.h"

namespace berth::cli {
namespace {

using http::KeyPair;

constexpr std::chrono::hours kAuthorityLife{24 * 365 * 10};
constexpr std::chrono::hours kLife{24 * 365};
/// A certificate that expires within this time is renewed.
constexpr std::chrono::hours kRenewBefore{24 * 30};

base::Result<bool> Load(const std::string& base, KeyPair& pair) {
  std::error_code error;
  if (!std::filesystem::exists(base + ".crt", error)) return false;
  auto certificate = ReadFlagFile("--data-dir", base + ".crt");
  if (!certificate) return tl::unexpected(std::move(certificate.error()));
  auto key = ReadFlagFile("--data-dir", base + ".key");
  if (!key) return tl::unexpected(std::move(key.error()));
  pair = {.certificate_pem = *std::move(certificate), .key_pem = *std::move(key)};
  return true;
}

base::Result<void> Save(const std::string& base, const KeyPair& pair) {
  if (auto saved = WritePrivateFile(base + ".key", pair.key_pem); !saved) return saved;
  return WritePrivateFile(base + ".crt", pair.certificate_pem);
}

/// Returns the pair in the files if it is `good`. Otherwise makes and saves a new pair.
template <typename Good, typename Make>
base::Result<KeyPair> LoadOrMake(const std::string& base, Good good, Make make) {
  KeyPair pair;
  const auto loaded = Load(base, pair);
  if (!loaded) return tl::unexpected(loaded.error());
  if (*loaded && good(pair)) return pair;
  auto made = make();
  if (!made) return made;
  if (auto saved = Save(base, *made); !saved) return tl::unexpected(std::move(saved.error()));
  return made;
}

std::string HostName() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

http::ServingNames NamesFor(const CredentialRequest& request) {
  http::ServingNames names{
      .common_name = "berth",
      .dns = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
              "kubernetes.default.svc.cluster.local"},
      .ips = {"127.0.0.1", "::1"}};
  if (const std::string host = HostName(); !host.empty()) names.dns.push_back(host);
  for (const std::string& ip : request.more_ips) names.ips.push_back(ip);
  if (std::find(names.ips.begin(), names.ips.end(), request.address) == names.ips.end()) {
    names.ips.push_back(request.address);
  }
  return names;
}

bool Covers(const KeyPair& pair, const http::ServingNames& names, base::WallTime now) {
  const auto info = http::ReadCertificate(pair.certificate_pem);
  const auto valid = http::StillValid(pair.certificate_pem, now, kRenewBefore);
  if (!info || !valid || !*valid) return false;
  const std::set<std::string> dns(info->dns.begin(), info->dns.end());
  const std::set<std::string> ips(info->ips.begin(), info->ips.end());
  return std::all_of(names.dns.begin(), names.dns.end(),
                     [&](const auto& name) { return dns.contains(name); }) &&
         std::all_of(names.ips.begin(), names.ips.end(),
                     [&](const auto& ip) { return ips.contains(ip); });
}

std::string Kubeconfig(const CredentialRequest& request, const std::string& authority_pem,
                       const KeyPair& admin) {
  std::string text = fmt::format(
      "apiVersion: v1\nkind: Config\nclusters:\n- name: berth\n  cluster:\n    server: {}\n",
      ServerUrl(request));
  if (!authority_pem.empty()) {
    text += fmt::format("    certificate-authority-data: {}\n", base::Base64(authority_pem));
  }
  return text + fmt::format(
                    "users:\n- name: admin\n  user:\n    client-certificate-data: {}\n"
                    "    client-key-data: {}\n"
                    "contexts:\n- name: berth\n  context:\n    cluster: berth\n"
                    "    user: admin\ncurrent-context: berth\n",
                    base::Base64(admin.certificate_pem), base::Base64(admin.key_pem));
}

/// Reads a file of certificates that a flag names.
base::Result<std::string> ReadCertificateFile(std::string_view flag, const std::string& path) {
  auto text = ReadFlagFile(flag, path);
  if (text && !http::ReadCertificate(*text)) {
    return base::Fail(
        base::Reason::kInvalid,
        fmt::format("{}: {} does not contain certificates in PEM format", flag, path));
  }
  return text;
}

/// Reads the user's own certificates. This happens first, so that nothing is created if one of them
/// is invalid.
base::Result<http::TlsSettings> ReadOwn(const CredentialRequest& request) {
  http::TlsSettings own;
  if (!request.client_ca_file.empty()) {
    auto more = ReadCertificateFile("--client-ca-file", request.client_ca_file);
    if (!more) return tl::unexpected(std::move(more.error()));
    own.client_ca_pem = *std::move(more);
  }
  if (request.tls_cert_file.empty()) return own;
  auto certificate = ReadCertificateFile("--tls-cert-file", request.tls_cert_file);
  if (!certificate) return tl::unexpected(std::move(certificate.error()));
  auto key = ReadFlagFile("--tls-private-key-file", request.tls_private_key_file);
  if (!key) return tl::unexpected(std::move(key.error()));
  own.certificate_pem = *std::move(certificate);
  own.key_pem = *std::move(key);
  return own;
}

base::Result<void> MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  if (!error) return {};
  return base::Fail(base::Reason::kInternalError,
                    fmt::format("cannot create the directory {}: {}", path, error.message()));
}

}  // namespace

std::string ServerUrl(const CredentialRequest& request) {
  const bool v6 = request.address.find(':') != std::string::npos;
  return fmt::format("https://{}{}{}:{}", v6 ? "[" : "", request.address, v6 ? "]" : "",
                     request.port);
}

base::Result<Credentials> PrepareCredentials(const CredentialRequest& request,
                                             const base::Clock& clock, base::Logger& log) {
  auto own = ReadOwn(request);
  if (!own) return tl::unexpected(std::move(own.error()));
  const std::string folder = request.data_dir + "/pki";
  if (auto made = MakeFolder(folder); !made) return tl::unexpected(std::move(made.error()));
  const base::WallTime now = clock.Now();
  const auto always = [](const KeyPair&) { return true; };
  const auto authority = LoadOrMake(folder + "/ca", always, [&] {
    log.Info("creating a certificate authority and credentials", {{"directory", folder}});
    return http::MakeAuthority("berth", {.from = now, .length = kAuthorityLife});
  });
  if (!authority) return tl::unexpected(authority.error());
  const auto admin = LoadOrMake(
      folder + "/admin",
      [&](const KeyPair& pair) {
        return http::StillValid(pair.certificate_pem, now, kRenewBefore).value_or(false);
      },
      [&] {
        return http::MakeClient(*authority, "kubernetes-admin", {"system:masters"},
                                {.from = now, .length = kLife});
      });
  if (!admin) return tl::unexpected(admin.error());

  Credentials credentials{.tls = *std::move(own), .kubeconfig = {}};
  credentials.tls.client_ca_pem.insert(0, authority->certificate_pem);
  std::string trusted;
  if (request.tls_cert_file.empty()) {
    const http::ServingNames names = NamesFor(request);
    const auto serving = LoadOrMake(
        folder + "/serving", [&](const KeyPair& pair) { return Covers(pair, names, now); },
        [&] { return http::MakeServing(*authority, names, {.from = now, .length = kLife}); });
    if (!serving) return tl::unexpected(serving.error());
    credentials.tls.certificate_pem = serving->certificate_pem;
    credentials.tls.key_pem = serving->key_pem;
    trusted = authority->certificate_pem;
  }
  credentials.kubeconfig = request.data_dir + "/admin.kubeconfig";
  const auto saved = WritePrivateFile(credentials.kubeconfig, Kubeconfig(request, trusted, *admin));
  if (!saved) return tl::unexpected(saved.error());
  return credentials;
}

}  // namespace berth::cli
