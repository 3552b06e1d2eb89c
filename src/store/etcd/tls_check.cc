#include "store/etcd/tls_check.h"

#include <fmt/core.h>
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

#include "store/etcd/etcd_client.h"
#include "store/etcd/tls_owned.h"

namespace berth::store::etcd::wire {
namespace {

using base::Fail;
using base::Reason;
using base::Result;

TlsOwned<X509> ParseCertificate(const std::string& pem) {
  return TlsOwned<X509>(PEM_read_bio_X509(PemReader(pem).get(), nullptr, nullptr, nullptr));
}

TlsOwned<EVP_PKEY> ParseKey(const std::string& pem) {
  // Without this, OpenSSL would ask for a passphrase on the terminal.
  const auto no_passphrase = [](char*, int, int, void*) { return -1; };
  return TlsOwned<EVP_PKEY>(
      PEM_read_bio_PrivateKey(PemReader(pem).get(), nullptr, no_passphrase, nullptr));
}

std::string TimeText(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "a date that cannot be read";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Result<std::string> ReadFile(const std::string& what, const std::string& path) {
  if (path.empty()) return std::string();
  constexpr size_t kMost = size_t{1} << 20;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  std::string content(kMost + 1, '\0');
  if (file) content.resize(std::fread(content.data(), 1, content.size(), file.get()));
  if (!file || std::ferror(file.get()) != 0) {
    return Fail(Reason::kInvalid,
                fmt::format("cannot read {} {}: {}", what, path, std::strerror(errno)));
  }
  if (content.size() > kMost) {
    return Fail(Reason::kInvalid, fmt::format("{} {} is too large", what, path));
  }
  return content;
}

Result<void> CheckPair(const TlsFiles& files, base::WallTime now) {
  const TlsOwned<X509> cert = ParseCertificate(files.cert);
  if (!cert) {
    return Fail(Reason::kInvalid,
                fmt::format("client certificate {} holds no PEM certificate", files.cert_file));
  }
  const TlsOwned<EVP_PKEY> key = ParseKey(files.key);
  if (!key) {
    return Fail(
        Reason::kInvalid,
        fmt::format("client key {} holds no PEM private key without a passphrase", files.key_file));
  }
  if (X509_check_private_key(cert.get(), key.get()) != 1) {
    return Fail(Reason::kInvalid,
                fmt::format("client key {} does not belong to client certificate {}",
                            files.key_file, files.cert_file));
  }
  if (std::string why = WhyOwnNotValid(files, now); !why.empty()) {
    return Fail(Reason::kInvalid, std::move(why));
  }
  return {};
}

}  // namespace

Result<TlsFiles> ReadTlsFiles(const ClientOptions& options, base::WallTime now) {
  if (options.cert_file.empty() != options.key_file.empty()) {
    return Fail(Reason::kInvalid, options.key_file.empty()
                                      ? "a client certificate needs its key file as well"
                                      : "a client key needs its certificate file as well");
  }
  TlsFiles files{.ca_file = options.ca_file,
                 .cert_file = options.cert_file,
                 .key_file = options.key_file,
                 .ca = {},
                 .cert = {},
                 .key = {}};
  auto ca = ReadFile("certificate authority", files.ca_file);
  if (!ca) return tl::unexpected(ca.error());
  auto cert = ReadFile("client certificate", files.cert_file);
  if (!cert) return tl::unexpected(cert.error());
  auto key = ReadFile("client key", files.key_file);
  if (!key) return tl::unexpected(key.error());
  files.ca = std::move(*ca);
  files.cert = std::move(*cert);
  files.key = std::move(*key);
  if (!files.ca_file.empty() && !ParseCertificate(files.ca)) {
    return Fail(Reason::kInvalid,
                fmt::format("certificate authority {} holds no PEM certificate", files.ca_file));
  }
  if (!files.cert_file.empty()) {
    if (auto fine = CheckPair(files, now); !fine) return tl::unexpected(fine.error());
  }
  // Failed parsing leaves entries in OpenSSL's error queue that would confuse gRPC's use of
  // OpenSSL.
  ERR_clear_error();
  return files;
}

std::string WhyNotValid(const X509& cert, base::WallTime now) {
  const ASN1_TIME* from = X509_get0_notBefore(&cert);
  const ASN1_TIME* until = X509_get0_notAfter(&cert);
  std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  if (X509_cmp_time(until, &seconds) < 0) return "expired on " + TimeText(until);
  if (X509_cmp_time(from, &seconds) > 0) return "is not valid before " + TimeText(from);
  return {};
}

std::string WhyOwnNotValid(const TlsFiles& files, base::WallTime now) {
  const TlsOwned<X509> own = files.cert.empty() ? nullptr : ParseCertificate(files.cert);
  const std::string why = own ? WhyNotValid(*own, now) : std::string();
  return why.empty() ? why : fmt::format("client certificate {} {}", files.cert_file, why);
}

}  // namespace berth::store::etcd::wire
