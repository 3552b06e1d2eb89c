#include "http/client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "http/head.h"
#include "http/listener.h"
#include "http/openssl.h"
#include "http/transport.h"

namespace berth::http {
namespace {

namespace beast = boost::beast;
using base::Fail;
using base::Reason;
using base::Result;

constexpr size_t kBuffer = size_t{64} << 10;
constexpr uint32_t kHeadLimit = 1U << 20;

/// Collects a response; parts of its body are taken out between reads.
class ResponseParser final : public beast::http::basic_parser<false> {
 public:
  explicit ResponseParser(bool head_only) {
    eager(true);
    skip(head_only);
    header_limit(kHeadLimit);
    body_limit(boost::none);
  }

  ClientResponse response;
  bool head_done = false;

 private:
  void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int,
                       beast::error_code&) override {}
  void on_response_impl(int code, beast::string_view, int, beast::error_code&) override {
    response.code = code;
  }
  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     beast::error_code&) override {
    if (!head_done) {
      response.headers.Add({name.data(), name.size()}, {value.data(), value.size()});
    }
  }
  void on_header_impl(beast::error_code&) override { head_done = true; }
  void on_body_init_impl(const boost::optional<uint64_t>&, beast::error_code&) override {}
  size_t on_body_impl(beast::string_view body, beast::error_code&) override {
    response.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(uint64_t, beast::string_view, beast::error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view body, beast::error_code&) override {
    response.body.append(body.data(), body.size());
    return body.size();
  }
  void on_finish_impl(beast::error_code&) override {}
};

bool IsAddress(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

/// False when the time is over.
bool WaitFor(int socket, int16_t events, std::chrono::nanoseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() < 0) return false;
    pollfd wait{.fd = socket, .events = events, .revents = 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(std::min<int64_t>(left.count(), 60'000)));
    if (ready > 0) return true;
  }
}

}  // namespace

class Client::Impl {
 public:
  explicit Impl(ClientOptions options) : options_(std::move(options)) {}

  Result<ClientResponse> Send(const ClientRequest& request, const BodySink& sink);
  void Close() {
    transport_.reset();
    socket_ = UniqueFd();
    buffered_.clear();
  }

 private:
  Result<void> Connect();
  Result<void> ConnectSocket();
  Result<void> StartTls();
  std::string HeadOf(const ClientRequest& request) const;
  Result<void> Write(std::string_view bytes);
  /// Bytes read; 0 at the end of the connection.
  Result<size_t> Read();
  Result<void> Wait(Transport::Status status, std::chrono::nanoseconds limit);
  Result<ClientResponse> Receive(bool head_only, const BodySink& sink);
  Result<bool> Deliver(ResponseParser& parser, std::string& whole, const BodySink& sink);
  std::string Where() const { return fmt::format("{}:{}", options_.host, options_.port); }

  const ClientOptions options_;
  SslCtxPtr ctx_;
  UniqueFd socket_;
  std::unique_ptr<Transport> transport_;
  std::string buffered_;
};

// --- connecting ----------------------------------------------------------------------------------

Result<void> Client::Impl::Connect() {
  Close();
  if (auto connected = ConnectSocket(); !connected) return connected;
  if (!options_.tls) {
    transport_ = std::make_unique<Transport>(socket_.get());
    return {};
  }
  if (auto started = StartTls(); !started) {
    Close();
    return started;
  }
  return {};
}

Result<void> Client::Impl::ConnectSocket() {
  const addrinfo hints{.ai_flags = AI_NUMERICSERV,
                       .ai_family = AF_UNSPEC,
                       .ai_socktype = SOCK_STREAM,
                       .ai_protocol = 0,
                       .ai_addrlen = 0,
                       .ai_addr = nullptr,
                       .ai_canonname = nullptr,
                       .ai_next = nullptr};
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(options_.host.c_str(), fmt::format("{}", options_.port).c_str(),
                                  &hints, &found);
  if (error != 0) {
    return Fail(Reason::kServiceUnavailable,
                fmt::format("cannot find {}: {}", options_.host, gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, OpensslFree<::freeaddrinfo>> addresses(found);
  int last = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    UniqueFd socket(::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) continue;
    last = ::connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    if (last == EINPROGRESS) {
      socklen_t size = sizeof(last);
      last = ETIMEDOUT;
      if (WaitFor(socket.get(), POLLOUT, options_.connect_timeout)) {
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &last, &size);
      }
    }
    if (last != 0) continue;
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    socket_ = std::move(socket);
    return {};
  }
  return Fail(Reason::kServiceUnavailable,
              fmt::format("cannot connect to {}: {}", Where(), std::strerror(last)));
}

Result<void> Client::Impl::StartTls() {
  const ClientTls& tls = *options_.tls;
  ctx_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(ctx_.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(ctx_.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(ctx_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(ctx_.get(), SSL_VERIFY_PEER, nullptr);
  if (tls.ca_pem.empty()) {
    SSL_CTX_set_default_verify_paths(ctx_.get());
  } else {
    auto authorities = ReadCertificates(tls.ca_pem, "the certificate authority");
    if (!authorities) return tl::unexpected(authorities.error());
    for (const X509Ptr& authority : *authorities) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx_.get()), authority.get());
    }
  }
  if (!tls.certificate_pem.empty()) {
    auto chain = ReadCertificates(tls.certificate_pem, "the client certificate");
    if (!chain) return tl::unexpected(chain.error());
    auto key = ReadKey(tls.key_pem, "the client key");
    if (!key) return tl::unexpected(key.error());
    if (SSL_CTX_use_certificate(ctx_.get(), chain->front().get()) != 1 ||
        SSL_CTX_use_PrivateKey(ctx_.get(), key->get()) != 1) {
      return Fail(Reason::kInvalid,
                  fmt::format("the client certificate and key cannot be used: {}", OpensslError()));
    }
  }
  SslPtr ssl(SSL_new(ctx_.get()));
  const std::string& name = tls.server_name.empty() ? options_.host : tls.server_name;
  if (IsAddress(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), name.c_str());
  } else {
    SSL_set1_host(ssl.get(), name.c_str());
    SSL_set_tlsext_host_name(ssl.get(), name.c_str());
  }
  SSL* const handle = ssl.get();
  transport_ = std::make_unique<Transport>(socket_.get(), std::move(ssl));
  for (;;) {
    const Transport::Status status = transport_->Handshake();
    if (status == Transport::Status::kOk) return {};
    if (status == Transport::Status::kError) {
      const auto verified = SSL_get_verify_result(handle);
      return Fail(Reason::kServiceUnavailable,
                  fmt::format("no TLS with {}: {}", Where(),
                              verified == X509_V_OK ? transport_->error()
                                                    : X509_verify_cert_error_string(verified)));
    }
    if (auto waited = Wait(status, options_.connect_timeout); !waited) return waited;
  }
}

// --- bytes ---------------------------------------------------------------------------------------

Result<void> Client::Impl::Wait(Transport::Status status, std::chrono::nanoseconds limit) {
  const int16_t events = status == Transport::Status::kWantWrite ? POLLOUT : POLLIN;
  if (WaitFor(socket_.get(), events, limit)) return {};
  return Fail(Reason::kTimeout, fmt::format("{} does not answer", Where()));
}

Result<void> Client::Impl::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const Transport::Outcome written = transport_->Write(bytes);
    if (written.status == Transport::Status::kOk) {
      bytes.remove_prefix(written.bytes);
    } else if (written.status == Transport::Status::kWantRead ||
               written.status == Transport::Status::kWantWrite) {
      if (auto waited = Wait(written.status, options_.read_timeout); !waited) return waited;
    } else {
      return Fail(Reason::kServiceUnavailable,
                  fmt::format("{} has closed the connection", Where()));
    }
  }
  return {};
}

Result<size_t> Client::Impl::Read() {
  std::array<char, kBuffer> buffer;  // NOLINT: no need to fill it first.
  for (;;) {
    const Transport::Outcome read = transport_->Read(buffer.data(), buffer.size());
    if (read.status == Transport::Status::kOk) {
      buffered_.append(buffer.data(), read.bytes);
      return read.bytes;
    }
    if (read.status == Transport::Status::kClosed || read.status == Transport::Status::kError) {
      return 0;
    }
    if (auto waited = Wait(read.status, options_.read_timeout); !waited) {
      return tl::unexpected(waited.error());
    }
  }
}

// --- requests ------------------------------------------------------------------------------------

std::string Client::Impl::HeadOf(const ClientRequest& request) const {
  const bool v6 = options_.host.find(':') != std::string::npos;
  std::string head =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}{}{}:{}\r\n", request.method, request.target,
                  v6 ? "[" : "", options_.host, v6 ? "]" : "", options_.port);
  if (!options_.token.empty()) head += fmt::format("Authorization: Bearer {}\r\n", options_.token);
  for (size_t i = 0; i < request.headers.size(); ++i) {
    head += fmt::format("{}: {}\r\n", request.headers[i].name, request.headers[i].value);
  }
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
    head += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  return head + "\r\n";
}

Result<ClientResponse> Client::Impl::Send(const ClientRequest& request, const BodySink& sink) {
  const std::string bytes = HeadOf(request) + request.body;
  const bool reused = transport_ != nullptr;
  if (!reused) {
    if (auto connected = Connect(); !connected) return tl::unexpected(connected.error());
  }
  auto written = Write(bytes);
  Result<size_t> first = 0;
  if (written || !reused) first = Read();  // A server may answer and close before it has read all.
  if (reused && first && *first == 0) {    // It was closed while it was idle.
    if (auto connected = Connect(); !connected) return tl::unexpected(connected.error());
    written = Write(bytes);
    first = Read();
  }
  if (!first) {
    Close();
    return tl::unexpected(first.error());
  }
  auto response = *first == 0 && !written ? Result<ClientResponse>(tl::unexpected(written.error()))
                                          : Receive(request.method == "HEAD", sink);
  if (!response) Close();
  return response;
}

Result<ClientResponse> Client::Impl::Receive(bool head_only, const BodySink& sink) {
  auto parser = std::make_unique<ResponseParser>(head_only);
  std::string whole;
  for (;;) {
    beast::error_code error;
    const bool wait = parser->head_done && parser->chunked() && buffered_.size() < kLastChunk;
    const size_t used =
        buffered_.empty() || wait
            ? 0
            : parser->put(boost::asio::const_buffer(buffered_.data(), buffered_.size()), error);
    buffered_.erase(0, used);
    if (error && error != beast::http::error::need_more) {
      return Fail(Reason::kInternalError, fmt::format("{} does not speak HTTP/1.1", Where()));
    }
    if (parser->is_done() && parser->response.code / 100 == 1) {  // "100 Continue": not the answer.
      parser = std::make_unique<ResponseParser>(head_only);
      continue;
    }
    auto delivered = Deliver(*parser, whole, sink);
    if (!delivered) return tl::unexpected(delivered.error());
    if (!*delivered) {
      Close();
      break;
    }
    if (parser->is_done()) {
      if (!parser->keep_alive()) Close();
      break;
    }
    if (used > 0 && !buffered_.empty() && !error) continue;
    const auto read = Read();
    if (!read) return tl::unexpected(read.error());
    if (*read > 0) continue;
    // The end of the connection is the end of a body without a length, and of nothing else.
    beast::error_code end;
    if (!parser->head_done) end = beast::http::error::partial_message;
    if (!end) parser->put_eof(end);
    if (end) {
      return Fail(Reason::kServiceUnavailable,
                  fmt::format("{} has closed the connection within an answer", Where()));
    }
    Close();
    break;
  }
  ClientResponse response = std::move(parser->response);
  response.body = std::move(whole);
  return response;
}

Result<bool> Client::Impl::Deliver(ResponseParser& parser, std::string& whole,
                                   const BodySink& sink) {
  ClientResponse& response = parser.response;
  if (response.body.empty()) return true;
  std::string part;
  part.swap(response.body);
  if (sink && response.code / 100 == 2) return sink(response, part);
  if (whole.size() + part.size() > options_.body_limit) {
    return Fail(
        Reason::kRequestEntityTooLarge,
        fmt::format("the answer of {} is larger than {} bytes", Where(), options_.body_limit));
  }
  whole += part;
  return true;
}

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::~Client() = default;

Result<ClientResponse> Client::Send(const ClientRequest& request, const BodySink& sink) {
  return impl_->Send(request, sink);
}

void Client::Close() { impl_->Close(); }

}  // namespace berth::http
