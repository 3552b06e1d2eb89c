#include "store/etcd/tls_probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "store/etcd/tls_owned.h"

namespace berth::store::etcd::wire {
namespace {

using Deadline = std::chrono::steady_clock::time_point;

struct AddressesDeleter {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

/// Blocks SIGPIPE. OpenSSL writes to sockets in a way that raises it if the peer has closed.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec now{.tv_sec = 0, .tv_nsec = 0};
    while (sigtimedwait(&pipe_, nullptr, &now) > 0) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

/// A connection, or the reason why there is no connection.
class Socket {
 public:
  Socket(const EndpointUrl& url, Deadline deadline);
  ~Socket() { Close(); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int Fd() const { return fd_; }
  const Finding& Failure() const { return failure_; }
  /// Waits for events on the socket. Returns false if the deadline passes.
  bool Wait(short events) const;  // NOLINT(google-runtime-int): the type that poll uses.

 private:
  /// Returns 0 or an errno.
  int Connect(const addrinfo& address);
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  const Deadline deadline_;
  int fd_ = -1;
  Finding failure_;
};

Socket::Socket(const EndpointUrl& url, Deadline deadline) : deadline_(deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error =
          getaddrinfo(url.host.c_str(), fmt::format("{}", url.port).c_str(), &hints, &list);
      error != 0) {
    failure_.text = fmt::format("its host is unknown ({})", gai_strerror(error));
    return;
  }
  const std::unique_ptr<addrinfo, AddressesDeleter> owned(list);
  int error = 0;
  for (const addrinfo* address = list; address != nullptr; address = address->ai_next) {
    error = Connect(*address);
    if (error == 0) return;
    Close();
  }
  if (error == ECONNREFUSED) {
    failure_.text = "nothing listens there (connection refused)";
  } else if (error == ETIMEDOUT) {
    failure_.text = "no connection in time";
  } else {
    failure_.text = std::strerror(error);
  }
}

int Socket::Connect(const addrinfo& address) {
  fd_ = socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return errno;
  if (connect(fd_, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!Wait(POLLOUT)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

bool Socket::Wait(short events) const {  // NOLINT(google-runtime-int)
  pollfd wanted{.fd = fd_, .events = events, .revents = 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - std::chrono::steady_clock::now());
    const int ready = poll(&wanted, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

std::string NameText(const X509_NAME* name) {
  std::array<char, 256> text{};
  X509_NAME_oneline(name, text.data(), static_cast<int>(text.size()));
  return Bounded(text.data());
}

/// The first fault in the certificate chain that the server showed.
struct ChainFault {
  int error = X509_V_OK;
  int depth = 0;
  TlsOwned<X509> cert;
};

int NoteFault(int fine, X509_STORE_CTX* store) {
  if (fine == 1) return 1;
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* fault = static_cast<ChainFault*>(SSL_get_app_data(ssl));
  if (fault->error == X509_V_OK) {
    fault->error = X509_STORE_CTX_get_error(store);
    fault->depth = X509_STORE_CTX_get_error_depth(store);
    X509* cert = X509_STORE_CTX_get_current_cert(store);
    if (cert != nullptr) X509_up_ref(cert);
    fault->cert.reset(cert);
  }
  return 1;  // Continue: the purpose of the handshake is only to learn from it.
}

std::string ChainText(const ChainFault& fault, const EndpointUrl& url, const TlsFiles& files,
                      base::WallTime now) {
  const std::string whose =
      fault.depth == 0 ? "its certificate" : "the certificate of its authority";
  const std::string subject =
      fault.cert ? NameText(X509_get_subject_name(fault.cert.get())) : "unknown";
  switch (fault.error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return fmt::format("{} ({}) {}", whose, subject,
                         fault.cert ? WhyNotValid(*fault.cert, now) : "is not valid now");
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return fmt::format("its certificate ({}) is signed by an authority ({}) that is not in {}",
                         subject,
                         fault.cert ? NameText(X509_get_issuer_name(fault.cert.get())) : "unknown",
                         files.ca_file.empty() ? "the system's list" : files.ca_file);
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return fmt::format("its certificate ({}) is not valid for {}", subject, url.host);
    default:
      return fmt::format("{} ({}): {}", whose, subject, X509_verify_cert_error_string(fault.error));
  }
}

/// One TLS handshake and the first bytes after it, because servers judge our certificate only then.
class Handshake {
 public:
  Handshake(const EndpointUrl& url, const TlsFiles& files, const Socket& socket);

  /// Returns whether the peer speaks TLS at all.
  bool IsTls() const { return tls_; }
  const ChainFault& Fault() const { return fault_; }
  /// Returns the alert that the server sent, or -1.
  int Alert() const { return alert_; }

 private:
  void TrustAndShow(const TlsFiles& files);
  void ExpectHost(const std::string& host);
  /// Repeats a call that waits for the network. Returns its result.
  template <typename Call>
  int Drive(Call call);

  const Socket& socket_;
  TlsOwned<SSL_CTX> context_;
  TlsOwned<SSL> ssl_;
  ChainFault fault_;
  bool tls_ = false;
  int alert_ = -1;
};

Handshake::Handshake(const EndpointUrl& url, const TlsFiles& files, const Socket& socket)
    : socket_(socket), context_(SSL_CTX_new(TLS_client_method())) {
  ERR_clear_error();
  TrustAndShow(files);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, NoteFault);
  ssl_.reset(SSL_new(context_.get()));
  SSL_set_app_data(ssl_.get(), &fault_);
  constexpr std::array<unsigned char, 3> kHttp2 = {2, 'h', '2'};
  SSL_set_alpn_protos(ssl_.get(), kHttp2.data(), kHttp2.size());
  ExpectHost(url.host);
  SSL_set_fd(ssl_.get(), socket.Fd());
  if (Drive([&] { return SSL_connect(ssl_.get()); }) == 1) {
    tls_ = true;
    char byte = 0;
    Drive([&] { return SSL_read(ssl_.get(), &byte, 1); });  // HTTP/2 settings, or an alert.
  }
  constexpr int kFirstAlert = SSL_AD_REASON_OFFSET;
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  if (reason >= kFirstAlert && reason < kFirstAlert + 256) alert_ = reason - kFirstAlert;
  tls_ = tls_ || alert_ >= 0 || SSL_get0_peer_certificate(ssl_.get()) != nullptr;
}

void Handshake::TrustAndShow(const TlsFiles& files) {
  if (files.ca.empty()) {
    SSL_CTX_set_default_verify_paths(context_.get());
  } else {
    const TlsOwned<BIO> pem = PemReader(files.ca);
    while (const TlsOwned<X509> cert{PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr)}) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), cert.get());
    }
  }
  if (files.cert.empty()) return;
  const TlsOwned<BIO> chain = PemReader(files.cert);
  const TlsOwned<X509> own(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  SSL_CTX_use_certificate(context_.get(), own.get());
  while (X509* next = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)) {
    SSL_CTX_add_extra_chain_cert(context_.get(), next);  // Takes ownership.
  }
  const TlsOwned<EVP_PKEY> key(
      PEM_read_bio_PrivateKey(PemReader(files.key).get(), nullptr, nullptr, nullptr));
  SSL_CTX_use_PrivateKey(context_.get(), key.get());
}

void Handshake::ExpectHost(const std::string& host) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), host.c_str()) == 1) return;
  SSL_set1_host(ssl_.get(), host.c_str());
  SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
}

template <typename Call>
int Handshake::Drive(Call call) {
  for (;;) {
    ERR_clear_error();
    const int result = call();
    const int want = result > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), result);
    if (want != SSL_ERROR_WANT_READ && want != SSL_ERROR_WANT_WRITE) return result;
    if (!socket_.Wait(want == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT)) return -1;
  }
}

bool AnswersPlainHttp(const EndpointUrl& url, Deadline deadline) {
  const Socket socket(url, deadline);
  constexpr std::string_view kRequest = "GET /version HTTP/1.0\r\n\r\n";
  if (socket.Fd() < 0) return false;
  if (send(socket.Fd(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL) < 0) return false;
  std::array<char, 5> start{};
  if (!socket.Wait(POLLIN)) return false;
  const ssize_t got = recv(socket.Fd(), start.data(), start.size(), 0);
  return std::string_view(start.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))) == "HTTP/";
}

std::string AlertText(int alert, const TlsFiles& files) {
  if (files.cert.empty() &&
      (alert == SSL_AD_BAD_CERTIFICATE || alert == TLS13_AD_CERTIFICATE_REQUIRED)) {
    return "it requires a client certificate";
  }
  const std::string_view words = SSL_alert_desc_string_long(alert);
  if (files.cert.empty()) return fmt::format("it ends the TLS handshake ({})", words);
  return fmt::format("it refuses the client certificate {} ({})", files.cert_file, words);
}

Finding ProbeTls(const EndpointUrl& url, const TlsFiles& files, const Socket& socket,
                 Deadline deadline, base::WallTime now) {
  const Handshake handshake(url, files, socket);
  if (handshake.Fault().error != X509_V_OK) {
    return {.text = ChainText(handshake.Fault(), url, files, now), .hopeless = true};
  }
  if (handshake.Alert() >= 0) {
    return {.text = AlertText(handshake.Alert(), files), .hopeless = true};
  }
  if (!handshake.IsTls() && AnswersPlainHttp(url, deadline)) {
    return {.text = "it speaks plain HTTP, not TLS: use http://", .hopeless = true};
  }
  return handshake.IsTls() ? Finding{} : Finding{.text = "it does not answer a TLS handshake"};
}

Finding ProbePlain(const EndpointUrl& url, const Socket& socket) {
  if (Handshake(url, TlsFiles{}, socket).IsTls()) {
    return {.text = "it speaks TLS: use https://", .hopeless = true};
  }
  return {};
}

}  // namespace

Finding WhyUnreachable(const EndpointUrl& url, const TlsFiles& files,
                       std::chrono::milliseconds limit, base::WallTime now) {
  if (url.tls) {
    if (std::string own = WhyOwnNotValid(files, now); !own.empty()) {
      return {.text = std::move(own), .hopeless = true};
    }
  }
  const NoSigpipe quiet;
  const Deadline deadline = std::chrono::steady_clock::now() + limit;
  const Socket socket(url, deadline);
  if (socket.Fd() < 0) return socket.Failure();
  Finding finding = url.tls ? ProbeTls(url, files, socket, deadline, now) : ProbePlain(url, socket);
  ERR_clear_error();
  return finding;
}

}  // namespace berth::store::etcd::wire
