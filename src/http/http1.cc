#include "http/http1.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <charconv>
#include <utility>

#include "http/head.h"

namespace berth::http {
namespace {

namespace beast = boost::beast;
using beast::http::error;

constexpr size_t kFirstBody = size_t{64} << 10;      // Taken for a body before any of it arrives.
constexpr size_t kAhead = size_t{16} << 10;          // Buffer for requests sent ahead.
constexpr size_t kChunkHeader = size_t{16} << 10;    // A chunk's extensions, or the trailer.
constexpr size_t kChunkOverhead = size_t{64} << 10;  // See CheckBody.

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

void AppendChunkHead(std::string& out, size_t size) {
  std::array<char, 18> text;  // NOLINT: written before it is read.
  char* const end = std::to_chars(text.data(), text.data() + 16, size, 16).ptr;
  *end = '\r';
  *(end + 1) = '\n';
  out.append(text.data(), end + 2);
}

}  // namespace

/// Beast splits the request into parts. This class decides what is kept of them, and how much.
class Http1::Parser final : public beast::http::basic_parser<true> {
 public:
  explicit Parser(const Limits& limits) : limits_(limits) {
    eager(true);
    header_limit(static_cast<uint32_t>(
        std::min<size_t>(limits.header_bytes + limits.request_line_bytes, UINT32_MAX)));
    body_limit(limits.body_bytes);
  }

  Request request;
  int version = 11;
  bool head_done = false;
  int refusal = 0;  // The code to refuse with, for `refusal_text`.
  std::string_view refusal_text;

 private:
  void Refuse(int code, std::string_view text, beast::error_code& ec) {
    refusal = code;
    refusal_text = text;
    ec = error::bad_value;
  }

  void on_request_impl(beast::http::verb /*verb*/, beast::string_view method,
                       beast::string_view target, int http_version,
                       beast::error_code& ec) override {
    version = http_version;
    request.method = View(method);
    if (target.size() > limits_.request_line_bytes) {
      Refuse(414, "the request line is too long", ec);
    } else if (!SplitTarget(View(target), request.path, request.query)) {
      Refuse(400, "the request target is not a path", ec);
    }
  }

  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value,
                     beast::error_code& ec) override {
    if (head_done) return;  // A trailer, which no handler needs.
    header_bytes_ += name.size() + value.size();
    if (header_bytes_ > limits_.header_bytes || request.headers.size() >= limits_.header_count) {
      Refuse(431, "the request has too many or too long header fields", ec);
      return;
    }
    // Beast would take a request with any other coding for one without a body.
    if (field == beast::http::field::transfer_encoding && !EqualsLower(View(value), "chunked")) {
      Refuse(501, "the only transfer coding served is chunked", ec);
      return;
    }
    request.headers.Add(View(name), View(value));
  }

  void on_header_impl(beast::error_code& /*ec*/) override { head_done = true; }
  void on_body_init_impl(const boost::optional<uint64_t>& /*length*/,
                         beast::error_code& /*ec*/) override {}
  void on_chunk_header_impl(uint64_t /*size*/, beast::string_view /*extensions*/,
                            beast::error_code& /*ec*/) override {}
  void on_finish_impl(beast::error_code& /*ec*/) override {}
  void on_response_impl(int /*code*/, beast::string_view /*reason*/, int /*version*/,
                        beast::error_code& /*ec*/) override {}

  size_t on_body_impl(beast::string_view body, beast::error_code& /*ec*/) override {
    request.body += View(body);
    return body.size();
  }
  size_t on_chunk_body_impl(uint64_t /*remain*/, beast::string_view body,
                            beast::error_code& /*ec*/) override {
    request.body += View(body);
    return body.size();
  }

  const Limits& limits_;
  size_t header_bytes_ = 0;
};

Http1::Http1(ProtocolEnv& env, ProtocolHost& host, std::shared_ptr<const Peer> peer)
    : env_(env), host_(host), peer_(std::move(peer)), since_(env.clock.Steady()) {}

Http1::~Http1() {
  ReleaseBody();
  if (flow_ != nullptr && flow_->is_stream()) env_.counters.streams_now.Subtract();
}

// --- requests ------------------------------------------------------------------------------------

void Http1::Receive(std::string_view bytes) {
  if (phase_ == Phase::kDone) return;
  if (!Reading() || advancing_ || !in_.empty()) {
    in_ += bytes;
    Advance();
    return;
  }
  // In the common case one read has a whole request, which is parsed in place.
  advancing_ = true;
  size_t used = 0;
  while (Reading() && used < bytes.size()) {
    const size_t parsed = Parse(bytes.substr(used));
    used += parsed;
    if (parsed == 0) break;
  }
  advancing_ = false;
  if (phase_ != Phase::kDone) in_.append(bytes.substr(used));
}

void Http1::Advance() {
  if (advancing_) return;
  advancing_ = true;
  size_t used = 0;
  while (Reading() && used < in_.size()) {
    const size_t parsed = Parse(std::string_view(in_).substr(used));
    used += parsed;
    if (parsed == 0) break;
  }
  in_.erase(0, used);
  if (in_.empty() && in_.capacity() > kAhead) std::string().swap(in_);
  advancing_ = false;
  if (input_ended_ && Reading()) phase_ = Phase::kDone;
}

/// Returns how many bytes were used, or 0 if more are needed.
size_t Http1::Parse(std::string_view bytes) {
  size_t skipped = 0;
  if (phase_ == Phase::kIdle) {
    // Empty lines before a request are skipped.
    while (skipped < bytes.size() && (bytes[skipped] == '\r' || bytes[skipped] == '\n')) ++skipped;
    bytes.remove_prefix(skipped);
    if (bytes.empty()) return skipped;
    phase_ = Phase::kHead;
    since_ = env_.clock.Steady();
    parser_ = std::make_unique<Parser>(env_.limits);
    ++stream_;
    head_bytes_ = 0;
    body_raw_ = 0;
    span_bytes_ = 0;
    head_only_ = false;
    old_ = false;
  }
  if (phase_ == Phase::kBody && parser_->chunked() && bytes.size() < kLastChunk) return 0;
  beast::error_code ec;
  const size_t used = parser_->put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
  const std::string_view rest = bytes.substr(used);
  if (ec && ec != error::need_more) {
    RefuseBy(ec.value());
    return skipped + used;
  }
  if (phase_ == Phase::kHead) {
    head_bytes_ += used;
    if (!parser_->head_done) {
      CheckHead(rest);
      return skipped + used;
    }
    if (!BeginBody()) return skipped + used;
  }
  body_raw_ += used;
  span_bytes_ += used;
  if (parser_->is_done()) {
    HandOut();
  } else {
    CheckBody(rest);
  }
  return skipped + used;
}

bool Http1::CheckHead(std::string_view rest) {
  const Limits& limits = env_.limits;
  // The parser may not consume a head that arrives in parts until it is whole.
  if (head_bytes_ == 0 && rest.size() > limits.request_line_bytes &&
      rest.substr(0, limits.request_line_bytes).find('\n') == std::string_view::npos) {
    Refuse(414, "the request line is too long");
    return false;
  }
  if (head_bytes_ + rest.size() > limits.header_bytes + limits.request_line_bytes) {
    Refuse(431, "the request has too many or too long header fields");
    return false;
  }
  return true;
}

/// Checks the complete head before any of the body is read. Returns false if it is refused.
bool Http1::BeginBody() {
  phase_ = Phase::kBody;
  since_ = env_.clock.Steady();
  const Headers& headers = parser_->request.headers;
  old_ = parser_->version < 11;
  head_only_ = parser_->request.method == "HEAD";
  close_after_ = draining_ || old_ || !parser_->keep_alive();
  const size_t hosts = headers.FindAll("host").size();
  if (hosts > 1 || (hosts == 0 && !old_)) {
    Refuse(400, "the request must have one Host header field");
    return false;
  }
  if (old_ && parser_->chunked()) {
    Refuse(400, "HTTP/1.0 has no transfer codings");
    return false;
  }
  if (const auto expect = headers.Find("expect"); expect) {
    if (!EqualsLower(*expect, "100-continue")) {
      Refuse(417, "the only expectation served is 100-continue");
      return false;
    }
    if (!old_ && !parser_->is_done() && parser_->request.body.empty()) {
      ready_ += "HTTP/1.1 100 Continue\r\n\r\n";
      host_.OnOutput();
    }
  }
  if (!parser_->is_done()) {
    const auto length = parser_->content_length();
    const size_t known = length ? static_cast<size_t>(*length) : 0;
    parser_->request.body.reserve(std::min(known, kFirstBody) + kBodyPadding);
  }
  return true;
}

bool Http1::CheckBody(std::string_view rest) {
  const size_t size = parser_->request.body.size();
  if (size > body_taken_) {
    if (!env_.bodies.Take(size - body_taken_)) {
      Refuse(503, "the server has too many request bodies to read; try again later");
      return false;
    }
    body_taken_ = size;
  }
  // Tiny chunks with long headers cause much work for little body.
  if (rest.size() > kChunkHeader || body_raw_ > 8 * size + kChunkOverhead + head_bytes_) {
    Refuse(400, "the request body is badly chunked");
    return false;
  }
  return true;
}

void Http1::HandOut() {
  Request request = std::move(parser_->request);
  parser_.reset();
  ReleaseBody();
  if (request.body.capacity() < request.body.size() + kBodyPadding) {
    request.body.reserve(request.body.size() + kBodyPadding);
  }
  request.peer = peer_;
  request.protocol = 1;
  phase_ = Phase::kHandling;
  env_.counters.requests_http1.Add();
  host_.OnRequest(stream_, std::move(request));
}

void Http1::ReleaseBody() {
  if (body_taken_ > 0) env_.bodies.Give(std::exchange(body_taken_, 0));
}

void Http1::RefuseBy(int parser_error) {
  if (parser_->refusal != 0) {
    // Copied, since the parser is destroyed before the text is used.
    const int code = parser_->refusal;
    const std::string_view text = parser_->refusal_text;
    Refuse(code, text);
    return;
  }
  switch (static_cast<error>(parser_error)) {
    case error::header_limit:
      Refuse(431, "the request has too many or too long header fields");
      break;
    case error::body_limit:
      Refuse(413, fmt::format("the request body is larger than {} bytes", env_.limits.body_bytes));
      break;
    case error::bad_version:
      Refuse(505, "the HTTP version is not served");
      break;
    default:
      Refuse(400, "the request is not valid HTTP/1.1");
  }
}

void Http1::Refuse(int code, std::string_view text) {
  env_.counters.requests_bad.Add();
  parser_.reset();
  ReleaseBody();
  ready_.clear();
  close_after_ = true;
  phase_ = Phase::kHandling;
  Finish(stream_, env_.on_error(code, text));
}

void Http1::ReceiveEnd() {
  input_ended_ = true;
  // An ordinary answer is still sent, for clients that close their side early.
  if (Reading() || (flow_ != nullptr && flow_->is_stream())) {
    phase_ = Phase::kDone;
    if (flow_ != nullptr && flow_->is_stream()) env_.counters.streams_now.Subtract();
    flow_.reset();
    ReleaseBody();
  }
  close_after_ = true;
}

bool Http1::WantsInput() const {
  if (input_ended_ || phase_ == Phase::kDone) return false;
  return Reading() || in_.size() < kAhead;
}

// --- answers -------------------------------------------------------------------------------------

void Http1::Finish(uint32_t stream, Response response) {
  if (phase_ != Phase::kHandling || stream != stream_) return;
  const size_t held = HoldAnswer(env_, response);
  Pieces body = std::move(response.body);
  std::string framing;
  if (MayHaveBody(response.code)) framing = fmt::format("Content-Length: {}\r\n", body.bytes());
  if (head_only_ || !MayHaveBody(response.code)) body.Clear();
  chunked_ = false;
  BeginAnswer(response, std::make_unique<Outflow>(std::move(body), &env_.answers, held), framing);
}

void Http1::Stream(uint32_t stream, Response head, std::unique_ptr<Source> source) {
  if (phase_ != Phase::kHandling || stream != stream_) return;
  if (input_ended_) {  // A client that has closed does not read a stream.
    phase_ = Phase::kDone;
    host_.OnOutput();
    return;
  }
  chunked_ = !old_ && MayHaveBody(head.code);
  std::string_view framing = chunked_ ? "Transfer-Encoding: chunked\r\n" : "";
  if (head_only_ || !MayHaveBody(head.code)) {
    chunked_ = false;
    BeginAnswer(head, std::make_unique<Outflow>(Pieces()), framing);
    return;
  }
  auto flow = std::make_unique<Outflow>(std::move(source), env_.mailbox, *this, 0);
  if (draining_) flow->Drain();
  env_.counters.streams.Add();
  env_.counters.streams_now.Add();
  BeginAnswer(head, std::move(flow), framing);
}

void Http1::BeginAnswer(const Response& head, std::unique_ptr<Outflow> flow,
                        std::string_view framing) {
  phase_ = Phase::kAnswering;
  flow_ = std::move(flow);
  if (draining_) close_after_ = true;
  AppendHead1(ready_, head, env_.date.At(env_.clock.Now()), framing, close_after_);
  host_.OnOutput();
}

void Http1::Produce(std::string& out, size_t room) {
  const size_t begin = out.size();
  while (out.size() - begin < room) {
    if (!ready_.empty()) {
      out += ready_;
      ready_.clear();
      if (ready_.capacity() > kAhead) std::string().swap(ready_);
    }
    if (phase_ != Phase::kAnswering ||
        !ProducePart(out, room - std::min(room, out.size() - begin))) {
      return;
    }
  }
}

bool Http1::ProducePart(std::string& out, size_t room) {
  const Outflow::State state = flow_->Fill(room);
  switch (state) {
    case Outflow::State::kWaiting:
      return false;
    case Outflow::State::kAbort:
      EndAnswer(false);
      return false;
    case Outflow::State::kEnd:
      if (chunked_) out += "0\r\n\r\n";
      EndAnswer(true);
      return true;
    case Outflow::State::kBytes:
      break;
  }
  const size_t part = std::min(std::max<size_t>(room, 1), flow_->pieces().bytes());
  if (chunked_) AppendChunkHead(out, part);
  flow_->pieces().MoveTo(out, part);
  if (chunked_) out += "\r\n";
  if (flow_->ended()) {
    if (chunked_) out += "0\r\n\r\n";
    EndAnswer(true);
  }
  return true;
}

void Http1::EndAnswer(bool clean) {
  if (flow_->is_stream()) env_.counters.streams_now.Subtract();
  flow_.reset();
  if (!clean || close_after_) {
    phase_ = Phase::kDone;
    return;
  }
  BeginNext();
}

void Http1::BeginNext() {
  phase_ = Phase::kIdle;
  since_ = env_.clock.Steady();
  Advance();
}

void Http1::Drain() {
  if (draining_) return;
  draining_ = true;
  if (phase_ == Phase::kIdle) {
    phase_ = Phase::kDone;
  } else if (flow_ != nullptr && flow_->is_stream()) {
    flow_->Drain();
  }
  close_after_ = true;
  host_.OnOutput();
}

// --- time ----------------------------------------------------------------------------------------

std::optional<base::SteadyTime> Http1::Deadline() const {
  switch (phase_) {
    case Phase::kIdle:
      return since_ + env_.limits.idle;
    case Phase::kHead:
      return since_ + env_.limits.header_read;
    case Phase::kBody:
      return since_ + env_.limits.body_span;
    case Phase::kAnswering:
      return flow_->wake_at();
    case Phase::kHandling:
    case Phase::kDone:
      break;
  }
  return std::nullopt;
}

void Http1::OnDeadline(base::SteadyTime now) {
  const auto deadline = Deadline();
  if (!deadline || now < *deadline) return;
  switch (phase_) {
    case Phase::kIdle:
      phase_ = Phase::kDone;
      break;
    case Phase::kHead:
      env_.counters.timeouts.Add();
      Refuse(408, "the request head did not arrive in time");
      break;
    case Phase::kBody:
      if (span_bytes_ >= env_.limits.body_span_bytes) {
        since_ = now;
        span_bytes_ = 0;
        break;
      }
      env_.counters.timeouts.Add();
      Refuse(408, "the request body arrives too slowly");
      break;
    case Phase::kAnswering:
      flow_->StopWaiting();
      break;
    case Phase::kHandling:
    case Phase::kDone:
      break;
  }
  host_.OnOutput();
}

std::chrono::nanoseconds Http1::StallLimit() const {
  const bool stream = flow_ != nullptr && flow_->is_stream();
  return stream ? env_.limits.stream_stall : env_.limits.write_stall;
}

}  // namespace berth::http
