#include "http/client_tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/pem.h>

#include <array>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "http/certificates.h"

namespace berth::http {
namespace {

using base::Fail;
using base::Reason;
using base::Result;

bool IsAddress(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

Result<void> Trust(SSL_CTX* context, const ClientTls& tls) {
  if (!tls.verify) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    return {};
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (tls.ca_pem.empty()) {
    SSL_CTX_set_default_verify_paths(context);
    return {};
  }
  auto authorities = ReadCertificates(tls.ca_pem, "the certificate authority");
  if (!authorities) return tl::unexpected(authorities.error());
  for (const X509Ptr& authority : *authorities) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get());
  }
  // Each of them is trusted for itself, as in Go: also an intermediate authority without the one
  // that signed it, or the server's own certificate.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

Result<void> UseClientCertificate(SSL_CTX* context, const ClientTls& tls) {
  auto chain = ReadCertificates(tls.certificate_pem, "the client certificate");
  if (!chain) return tl::unexpected(chain.error());
  auto key = ReadKey(tls.key_pem, "the client key");
  if (!key) return tl::unexpected(key.error());
  if (SSL_CTX_use_certificate(context, chain->front().get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key->get()) != 1) {
    return Fail(Reason::kInvalid,
                fmt::format("the client certificate and key cannot be used: {}", OpensslError()));
  }
  for (size_t i = 1; i < chain->size(); ++i) SSL_CTX_add1_chain_cert(context, (*chain)[i].get());
  return {};
}

/// Returns the names that a server may have to use its certificate, as OpenSSL verifies them: those
/// of the certificate's list or, if that has no host name, its common name.
std::vector<std::string> NamesOf(X509* certificate) {
  const BioPtr pem(BIO_new(BIO_s_mem()));
  if (certificate == nullptr || PEM_write_bio_X509(pem.get(), certificate) != 1) return {};
  char* text = nullptr;
  const auto size = BIO_get_mem_data(pem.get(), &text);
  auto info = ReadCertificate(std::string(text, static_cast<size_t>(size)));
  if (!info) return {};
  std::vector<std::string> names = std::move(info->dns);
  if (names.empty() && !info->common_name.empty()) names.push_back(std::move(info->common_name));
  names.insert(names.end(), info->ips.begin(), info->ips.end());
  return names;
}

/// Returns "a, b and c" for an error. The names come from a server that is not trusted.
std::string NameListText(const std::vector<std::string>& names) {
  constexpr size_t kMostNames = 20;
  constexpr size_t kLongestName = 253;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i) {
    const bool last = i + 1 == names.size();
    if (i > 0) text += last ? " and " : ", ";
    text += base::ToVisible(std::string_view(names[i]).substr(0, kLongestName));
  }
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text;
}

}  // namespace

Result<SslCtxPtr> MakeClientContext(const ClientTls& tls) {
  SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return Fail(Reason::kInternalError, OpensslError());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (auto trusts = Trust(context.get(), tls); !trusts) return tl::unexpected(trusts.error());
  if (!tls.certificate_pem.empty()) {
    if (auto used = UseClientCertificate(context.get(), tls); !used) {
      return tl::unexpected(used.error());
    }
  }
  return context;
}

SslPtr MakeClientSsl(SSL_CTX* context, const std::string& name) {
  SslPtr ssl(SSL_new(context));
  if (IsAddress(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), name.c_str());
  } else {
    SSL_set1_host(ssl.get(), name.c_str());
    SSL_set_tlsext_host_name(ssl.get(), name.c_str());
  }
  return ssl;
}

std::string WhyNotTrusted(SSL* ssl, std::string_view name, std::string_view advice) {
  const auto result = SSL_get_verify_result(ssl);
  if (result != X509_V_ERR_HOSTNAME_MISMATCH && result != X509_V_ERR_IP_ADDRESS_MISMATCH) {
    return X509_verify_cert_error_string(result);
  }
  // The handshake has failed, so OpenSSL does not yet call it the certificate of the peer.
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl);
  const std::vector<std::string> names =
      NamesOf(sk_X509_num(chain) > 0 ? sk_X509_value(chain, 0) : nullptr);
  if (names.empty()) return fmt::format("the certificate is for no name, not for {}", name);
  return fmt::format("the certificate is for {}, not for {}{}{}", NameListText(names), name,
                     advice.empty() ? "" : "; ", advice);
}

}  // namespace berth::http
