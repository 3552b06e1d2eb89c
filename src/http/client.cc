#include "http/client.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <utility>

#include "http/client_socket.h"
#include "http/head.h"
#include "http/inflate.h"
#include "http/response_parser.h"

namespace berth::http {
namespace {

namespace beast = boost::beast;
using base::Fail;
using base::Reason;
using base::Result;

}  // namespace

class Client::Impl {
 public:
  explicit Impl(ClientOptions options) : options_(std::move(options)), socket_(options_) {}

  Result<ClientResponse> Send(const ClientRequest& request, const BodySink& sink);
  void Close() {
    socket_.Close();
    buffered_.clear();
  }

 private:
  /// What is known of the answer that is being received.
  struct Incoming {
    const BodySink& sink;
    std::string whole = {};
    std::unique_ptr<Inflater> inflater = {};
    bool announced = false;  // The sink has seen the head.
    bool stopped = false;    // The sink wants no more.
  };

  Result<void> Connect();
  std::string HeadOf(const ClientRequest& request) const;
  Result<size_t> Start(const ClientRequest& request);
  Result<ClientResponse> Receive(bool head_only, const BodySink& sink);
  /// Shows the head to the sink when it is there. Returns false if the sink wants no more.
  static bool Announce(const ResponseParser& parser, Incoming& incoming);
  /// Hands on what the parser has of the body. Returns false if the sink wants no more.
  Result<bool> Deliver(ResponseParser& parser, Incoming& incoming) const;
  Result<bool> Take(const ClientResponse& head, std::string_view part, Incoming& incoming) const;
  std::string Where() const { return socket_.Where(); }

  const ClientOptions options_;
  ClientSocket socket_;
  std::string buffered_;
};

Result<void> Client::Impl::Connect() {
  buffered_.clear();
  return socket_.Open();
}

std::string Client::Impl::HeadOf(const ClientRequest& request) const {
  const bool forwarded = socket_.IsForwarded();
  std::string head =
      fmt::format("{} {}{}{} HTTP/1.1\r\nHost: {}\r\n", request.method, forwarded ? "http://" : "",
                  forwarded ? Where() : "", request.target, Where());
  if (forwarded) head += ProxyAuthorization(socket_.proxy());
  if (!options_.token.empty()) head += fmt::format("Authorization: Bearer {}\r\n", options_.token);
  if (options_.gzip) head += "Accept-Encoding: gzip\r\n";
  for (size_t i = 0; i < request.headers.size(); ++i) {
    head += fmt::format("{}: {}\r\n", request.headers[i].name, request.headers[i].value);
  }
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
    head += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  return head + "\r\n";
}

/// Sends the request and reads the first bytes of the answer. Returns 0 if there are no bytes.
Result<size_t> Client::Impl::Start(const ClientRequest& request) {
  const bool reused = socket_.IsOpen();
  if (!reused) {
    if (auto connected = Connect(); !connected) return tl::unexpected(connected.error());
  }
  const std::string bytes = HeadOf(request) + request.body;
  auto written = socket_.Write(bytes);
  Result<size_t> first = 0;
  if (written || !reused)
    first = socket_.Read(buffered_);     // A server may answer and close before
                                         // it has read all.
  if (reused && first && *first == 0) {  // The connection was closed while it was idle.
    if (auto connected = Connect(); !connected) return tl::unexpected(connected.error());
    written = socket_.Write(bytes);
    first = socket_.Read(buffered_);
  }
  if (first && *first == 0 && !written) return tl::unexpected(written.error());
  return first;
}

Result<ClientResponse> Client::Impl::Send(const ClientRequest& request, const BodySink& sink) {
  socket_.SetLimits(request.read_timeout.value_or(options_.read_timeout), request.time_limit);
  const auto started = Start(request);
  auto response = started ? Receive(request.method == "HEAD", sink)
                          : Result<ClientResponse>(tl::unexpected(started.error()));
  if (!response) Close();
  return response;
}

Result<ClientResponse> Client::Impl::Receive(bool head_only, const BodySink& sink) {
  auto parser = std::make_unique<ResponseParser>(head_only);
  Incoming incoming{.sink = sink};
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
    Result<bool> delivered = Announce(*parser, incoming);
    if (delivered && *delivered) delivered = Deliver(*parser, incoming);
    if (!delivered) return tl::unexpected(delivered.error());
    if (!*delivered) {
      incoming.stopped = true;
      Close();
      break;
    }
    if (parser->is_done()) {
      if (!parser->keep_alive()) Close();
      break;
    }
    if (used > 0 && !buffered_.empty() && !error) continue;
    const auto read = socket_.Read(buffered_);
    if (!read) return tl::unexpected(read.error());
    if (*read > 0) continue;
    // The end of the connection ends a body without a length. Otherwise it is an error.
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
  if (incoming.inflater != nullptr && !incoming.inflater->AtEnd() && !incoming.stopped) {
    return Fail(Reason::kInternalError,
                fmt::format("the compressed answer of {} ends too early", Where()));
  }
  ClientResponse response = std::move(parser->response);
  response.body = std::move(incoming.whole);
  return response;
}

bool Client::Impl::Announce(const ResponseParser& parser, Incoming& incoming) {
  const bool ready = parser.head_done && parser.response.code / 100 == 2 && incoming.sink;
  if (!ready || std::exchange(incoming.announced, true)) return true;
  const ClientResponse head{
      .code = parser.response.code, .headers = parser.response.headers, .body = {}};
  return incoming.sink(head, {});
}

Result<bool> Client::Impl::Deliver(ResponseParser& parser, Incoming& incoming) const {
  ClientResponse& head = parser.response;
  if (head.body.empty()) return true;
  std::string part;
  part.swap(head.body);
  if (incoming.inflater == nullptr) {
    const auto encoding = head.headers.Find("content-encoding");
    if (!options_.gzip || !encoding || !EqualsLower(*encoding, "gzip")) {
      return Take(head, part, incoming);
    }
    incoming.inflater = std::make_unique<Inflater>();
  }
  return incoming.inflater->Feed(
      part, [&](std::string_view inflated) { return Take(head, inflated, incoming); });
}

Result<bool> Client::Impl::Take(const ClientResponse& head, std::string_view part,
                                Incoming& incoming) const {
  if (incoming.sink && head.code / 100 == 2) return incoming.sink(head, part);
  if (incoming.whole.size() + part.size() > options_.body_limit) {
    return Fail(
        Reason::kRequestEntityTooLarge,
        fmt::format("the answer of {} is larger than {} bytes", Where(), options_.body_limit));
  }
  incoming.whole += part;
  return true;
}

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::~Client() = default;

Result<ClientResponse> Client::Send(const ClientRequest& request, const BodySink& sink) {
  return impl_->Send(request, sink);
}

void Client::Close() { impl_->Close(); }

}  // namespace berth::http
