#include "http/transport.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "http/socket_bio.h"
#include "http/tunnel_bio.h"

namespace berth::http {
namespace {

/// Chooses HTTP/2 if the client offers it, else HTTP/1.1. Refuses a client that offers neither.
int ChooseProtocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* in, unsigned int in_size, void* /*user*/) {
  static constexpr std::array<unsigned char, 12> kOurs = {2,   'h', '2', 8,   'h', 't',
                                                          't', 'p', '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kOurs.data(), kOurs.size(), in, in_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

/// Verifies a client certificate, but lets the connection go on if that fails. The client then has
/// no identity, and the result of the verification stays with the connection.
int VerifyWithoutRefusing(X509_STORE_CTX* store, void* /*user*/) {
  X509_verify_cert(store);
  ERR_clear_error();
  return 1;
}

base::Result<void> UseCertificate(SSL_CTX* ctx, const TlsSettings& settings) {
  auto chain = ReadCertificates(settings.certificate_pem, "the serving certificate");
  if (!chain) return tl::unexpected(chain.error());
  auto key = ReadKey(settings.key_pem, "the serving key");
  if (!key) return tl::unexpected(key.error());
  if (SSL_CTX_use_certificate(ctx, chain->front().get()) != 1) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("the serving certificate cannot be used: {}", OpensslError()));
  }
  for (size_t i = 1; i < chain->size(); ++i) {
    SSL_CTX_add1_chain_cert(ctx, (*chain)[i].get());
  }
  if (SSL_CTX_use_PrivateKey(ctx, key->get()) != 1 || SSL_CTX_check_private_key(ctx) != 1) {
    ERR_clear_error();
    return base::Fail(base::Reason::kInvalid,
                      "the serving key does not belong to the serving certificate");
  }
  return {};
}

base::Result<void> AskForClients(SSL_CTX* ctx, const std::string& ca_pem) {
  auto authorities = ReadCertificates(ca_pem, "the client certificate authority");
  if (!authorities) return tl::unexpected(authorities.error());
  STACK_OF(X509_NAME)* names = sk_X509_NAME_new_null();
  for (const X509Ptr& authority : *authorities) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), authority.get());
    sk_X509_NAME_push(names, X509_NAME_dup(X509_get_subject_name(authority.get())));
  }
  SSL_CTX_set_client_CA_list(ctx, names);  // Takes the list.
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(ctx, VerifyWithoutRefusing, nullptr);
  return {};
}

/// Clears old errors, so that they are not taken for errors of the next call. There hardly ever are
/// any, and it is cheaper to look first than to clear an empty queue.
void ForgetErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
  errno = 0;
}

}  // namespace

base::Result<std::shared_ptr<const TlsContext>> TlsContext::Make(const TlsSettings& settings) {
  SslCtxPtr ctx(SSL_CTX_new(TLS_server_method()));
  if (ctx == nullptr) return base::Fail(base::Reason::kInternalError, OpensslError());
  SSL_CTX_set_min_proto_version(ctx.get(), TLS1_2_VERSION);
  // Without resumption, every connection is verified against the authorities that are current then.
  SSL_CTX_set_session_cache_mode(ctx.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(ctx.get(), 0);
  SSL_CTX_set_options(ctx.get(), SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_cipher_list(ctx.get(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_mode(ctx.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(ctx.get(), 1);  // Header and content of a record in one read.
  SSL_CTX_set_alpn_select_cb(ctx.get(), ChooseProtocol, nullptr);
  if (auto used = UseCertificate(ctx.get(), settings); !used) return tl::unexpected(used.error());
  if (!settings.client_ca_pem.empty()) {
    if (auto asked = AskForClients(ctx.get(), settings.client_ca_pem); !asked) {
      return tl::unexpected(asked.error());
    }
  }
  return std::make_shared<const TlsContext>(std::move(ctx));
}

Transport::Transport(int socket, const TlsContext& context)
    : socket_(socket), ssl_(SSL_new(context.get())) {
  if (ssl_ == nullptr) return;
  UseSocket();
  SSL_set_accept_state(ssl_.get());
}

Transport::Transport(int socket, SslPtr ssl) : socket_(socket), ssl_(std::move(ssl)) {
  UseSocket();
  SSL_set_connect_state(ssl_.get());
}

Transport::Transport(std::unique_ptr<Transport> outer, SslPtr ssl)
    : socket_(outer->socket_), outer_(std::move(outer)), ssl_(std::move(ssl)) {
  BIO* const bio = NewTunnelBio(outer_.get());
  SSL_set_bio(ssl_.get(), bio, bio);  // Takes it.
  SSL_set_connect_state(ssl_.get());
}

void Transport::UseSocket() {
  BIO* const bio = NewSocketBio(socket_);
  SSL_set_bio(ssl_.get(), bio, bio);  // Takes it.
}

Transport::Status Transport::StatusOf(int result) {
  const int system_error = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_NONE:
      return Status::kOk;
    case SSL_ERROR_WANT_READ:
      return Status::kWantRead;
    case SSL_ERROR_WANT_WRITE:
      return Status::kWantWrite;
    case SSL_ERROR_ZERO_RETURN:
      return Status::kClosed;
    case SSL_ERROR_SYSCALL:
      broken_ = true;
      error_ = system_error == 0 ? "connection closed" : std::strerror(system_error);
      ERR_clear_error();
      return Status::kError;
    default:
      broken_ = true;
      error_ = OpensslError();
      return Status::kError;
  }
}

Transport::Status Transport::Handshake() {
  if (ssl_ == nullptr) return Status::kOk;
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) {
    established_ = true;
    return Status::kOk;
  }
  met_plain_http_ = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
  const Status status = StatusOf(result);
  if (status != Status::kClosed) return status;
  error_ = "connection closed";
  return Status::kError;
}

bool Transport::AnswerPlainHttp() const {
  constexpr std::string_view kAnswer =
      "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
  return met_plain_http_ && ::send(socket_, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) > 0;
}

bool Transport::IsHttp2() const {
  if (ssl_ == nullptr) return false;
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return size == 2 && name[0] == 'h' && name[1] == '2';
}

void Transport::Identify(Peer& peer) const {
  peer.tls = ssl_ != nullptr;
  if (ssl_ == nullptr) return;
  const X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  if (certificate == nullptr) return;
  const long result = SSL_get_verify_result(ssl_.get());  // NOLINT(google-runtime-int)
  if (result != X509_V_OK) {
    peer.certificate_error = X509_verify_cert_error_string(result);
    return;
  }
  const X509_NAME* subject = X509_get_subject_name(certificate);
  std::vector<std::string> names = NameEntries(subject, NID_commonName);
  ClientIdentity identity{.common_name = names.empty() ? "" : std::move(names.back()),
                          .organizations = NameEntries(subject, NID_organizationName)};
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  if (has_nul(identity.common_name) || std::ranges::any_of(identity.organizations, has_nul)) {
    peer.certificate_error = "the certificate's subject holds a NUL";
    return;
  }
  peer.identity = std::move(identity);
}

Transport::Outcome Transport::Read(char* to, size_t size) {
  if (ssl_ != nullptr) {
    ForgetErrors();
    size_t bytes = 0;
    const int result = SSL_read_ex(ssl_.get(), to, size, &bytes);
    if (result == 1) return {.status = Status::kOk, .bytes = bytes};
    return {.status = StatusOf(result)};
  }
  const ssize_t bytes = ::recv(socket_, to, size, 0);
  if (bytes > 0) return {.status = Status::kOk, .bytes = static_cast<size_t>(bytes)};
  if (bytes == 0) return {.status = Status::kClosed};
  const bool later = errno == EAGAIN || errno == EINTR;
  return {.status = later ? Status::kWantRead : Status::kError};
}

Transport::Outcome Transport::Write(std::string_view bytes) {
  if (ssl_ != nullptr) {
    ForgetErrors();
    size_t written = 0;
    const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written);
    if (result == 1) return {.status = Status::kOk, .bytes = written};
    return {.status = StatusOf(result)};
  }
  const ssize_t written = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (written >= 0) return {.status = Status::kOk, .bytes = static_cast<size_t>(written)};
  const bool later = errno == EAGAIN || errno == EINTR;
  return {.status = later ? Status::kWantWrite : Status::kError};
}

void Transport::Shutdown() {
  if (ssl_ == nullptr || !established_ || broken_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

}  // namespace berth::http
