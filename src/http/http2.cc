#include "http/http2.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "http/head.h"

namespace berth::http {
namespace {

constexpr int32_t kStreamWindow = 256 << 10;            // Bytes a client may send ahead per stream.
constexpr int32_t kConnectionWindow = 1 << 20;          // The same for the whole connection.
constexpr size_t kConnectionBodies = size_t{16} << 20;  // Bodies being read on one connection.
constexpr size_t kLingerBodyBytes = size_t{8} << 20;    // Discarded after an early answer.
constexpr size_t kHeaderOverhead = 32;                  // Per field, as HTTP/2 counts.

nghttp2_nv Field(std::string_view name, std::string_view value, bool unique = false) {
  // nghttp2 makes copies and does not write here, although its types are not const.
  return {.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          .value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = static_cast<uint8_t>(unique ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE)};
}

}  // namespace

struct Http2::Callbacks {
  static Http2& Self(void* user_data) { return *static_cast<Http2*>(user_data); }

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* head, void* user_data) {
    Self(user_data).greeted_ = true;
    return Self(user_data).OnBeginFrame(head->type);
  }
  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    return Self(user_data).OnBeginHeaders(*frame);
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    return Self(user_data).OnHeader(frame->hd.stream_id, TextView(name, name_size),
                                    TextView(value, value_size));
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    return Self(user_data).OnFrame(*frame);
  }
  static int OnInvalidFrame(nghttp2_session*, const nghttp2_frame*, int, void* user_data) {
    Http2& self = Self(user_data);
    return self.guard_.OnReset(self.env_.clock.Steady()) ? 0 : self.Abuse();
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user_data) {
    Self(user_data).OnData(id, TextView(data, size));
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t id, uint32_t, void* user_data) {
    Self(user_data).OnClose(id);
    return 0;
  }
  static int OnSent(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Self(user_data).OnSent(*frame);
    return 0;
  }
  /// Returns the exchange of an answer. nghttp2 reads and sends an answer only while its stream,
  /// and so the exchange, exists.
  static Exchange& Of(nghttp2_data_source* source) { return *static_cast<Exchange*>(source->ptr); }

  static ssize_t Read(nghttp2_session*, int32_t, uint8_t*, size_t room, uint32_t* flags,
                      nghttp2_data_source* source, void* user_data) {
    return Self(user_data).Read(Of(source), room, *flags);
  }
  static int Send(nghttp2_session*, nghttp2_frame*, const uint8_t* head, size_t length,
                  nghttp2_data_source* source, void* user_data) {
    constexpr size_t kFrameHead = 9;
    return Self(user_data).Send(Of(source), TextView(head, kFrameHead), length);
  }

  static const nghttp2_session_callbacks* Table() {
    static const nghttp2_session_callbacks* const table_of_all = [] {
      nghttp2_session_callbacks* table = nullptr;
      nghttp2_session_callbacks_new(&table);
      nghttp2_session_callbacks_set_on_begin_frame_callback(table, OnBeginFrame);
      nghttp2_session_callbacks_set_on_begin_headers_callback(table, OnBeginHeaders);
      nghttp2_session_callbacks_set_on_header_callback(table, OnHeader);
      nghttp2_session_callbacks_set_on_frame_recv_callback(table, OnFrame);
      nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(table, OnInvalidFrame);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, OnData);
      nghttp2_session_callbacks_set_on_stream_close_callback(table, OnClose);
      nghttp2_session_callbacks_set_on_frame_send_callback(table, OnSent);
      nghttp2_session_callbacks_set_send_data_callback(table, Send);
      return table;
    }();
    return table_of_all;
  }
};

Http2::Http2(ProtocolEnv& env, ProtocolHost& host, std::shared_ptr<const Peer> peer)
    : env_(env),
      host_(host),
      peer_(std::move(peer)),
      guard_(env.limits, env.clock.Steady()),
      headers_since_(env.clock.Steady()),
      idle_since_(headers_since_),
      swept_(headers_since_) {
  const Limits& limits = env.limits;
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_max_continuations(option, limits.h2.continuations);
  nghttp2_option_set_max_settings(option, limits.h2.settings_entries);
  nghttp2_option_set_max_outbound_ack(option, limits.h2.acks_waiting);
  // H2Limits counts resets, with our clock and with the right code. nghttp2's own limit must not
  // apply first.
  nghttp2_option_set_stream_reset_rate_limit(option, UINT32_MAX, UINT32_MAX);
  nghttp2_session_server_new2(&session_, Callbacks::Table(), this, option);
  nghttp2_option_del(option);
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.h2_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(limits.header_bytes)},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Http2::~Http2() {
  for (auto& [id, exchange] : exchanges_) {
    ReleaseBody(*exchange);
    if (exchange->flow != nullptr && exchange->flow->is_stream()) {
      env_.counters.streams_now.Subtract();
    }
  }
  exchanges_.clear();
  nghttp2_session_del(session_);
}

Http2::Exchange* Http2::Find(int32_t id) {
  const auto found = exchanges_.find(id);
  return found == exchanges_.end() ? nullptr : found->second.get();
}

// --- requests ------------------------------------------------------------------------------------

void Http2::Receive(std::string_view bytes) {
  if (Done() || terminating_) return;
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (used < 0 && !terminating_) {
    if (used == NGHTTP2_ERR_BAD_CLIENT_MAGIC) {
      dead_ = true;
      return;
    }
    const bool flood = used == NGHTTP2_ERR_FLOODED || used == NGHTTP2_ERR_TOO_MANY_SETTINGS ||
                       used == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS;
    if (flood) env_.counters.h2_abuses.Add();
    Terminate(flood ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
  }
  if (nghttp2_session_want_write(session_) != 0) host_.OnOutput();
}

/// Counts PRIORITY frames. OnFrame never gets them: the server announces that it does not use
/// priorities, so nghttp2 skips them.
int Http2::OnBeginFrame(uint8_t type) {
  return type != NGHTTP2_PRIORITY || guard_.OnControl(env_.clock.Steady()) ? 0 : Abuse();
}

int Http2::OnBeginHeaders(const nghttp2_frame& frame) {
  guard_.OnHeaderBlock();
  in_headers_ = true;
  headers_since_ = env_.clock.Steady();
  if (frame.headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  auto exchange = std::make_unique<Exchange>();
  exchange->id = frame.hd.stream_id;
  if (exchanges_.empty()) swept_ = headers_since_;
  exchanges_[frame.hd.stream_id] = std::move(exchange);
  return 0;
}

int Http2::OnHeader(int32_t id, std::string_view name, std::string_view value) {
  const size_t size = name.size() + value.size();
  if (!guard_.OnHeader(size + kHeaderOverhead)) return Abuse();
  Exchange* exchange = Find(id);
  // Fields after the head are a trailer, which no handler needs.
  if (exchange == nullptr || exchange->phase != Exchange::Phase::kHead) return 0;
  if (exchange->refusal != 0) return 0;
  Request& request = *exchange->request;
  if (name == ":path") {
    if (value.size() > env_.limits.request_line_bytes) {
      exchange->refusal = 414;
    } else if (!SplitTarget(value, request.path, request.query)) {
      exchange->refusal = 400;
    }
    return 0;
  }
  exchange->header_bytes += size;
  if (exchange->header_bytes > env_.limits.header_bytes ||
      request.headers.size() >= env_.limits.header_count) {
    exchange->refusal = 431;
  } else if (name == ":method") {
    request.method = value;
  } else if (name == ":authority") {
    request.headers.Add("host", value);
  } else if (!name.starts_with(':')) {
    request.headers.Add(name, value);
  }
  return 0;
}

int Http2::OnFrame(const nghttp2_frame& frame) {
  const bool end = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA: {
      if (frame.hd.type == NGHTTP2_HEADERS) in_headers_ = false;
      Exchange* exchange = Find(frame.hd.stream_id);
      if (frame.hd.type == NGHTTP2_DATA && frame.hd.length == 0 && !end) {
        return guard_.OnControl(env_.clock.Steady()) ? 0 : Abuse();
      }
      if (exchange == nullptr) return 0;
      if (exchange->phase == Exchange::Phase::kHead) {
        OnHeadEnd(*exchange, end);
      } else if (end) {
        OnRequestEnd(*exchange);
      }
      return 0;
    }
    case NGHTTP2_RST_STREAM:
      return guard_.OnReset(env_.clock.Steady()) ? 0 : Abuse();
    case NGHTTP2_PING:
    case NGHTTP2_SETTINGS:
      return guard_.OnControl(env_.clock.Steady()) ? 0 : Abuse();
    default:
      return 0;
  }
}

void Http2::OnHeadEnd(Exchange& exchange, bool end) {
  exchange.request_ended = end;
  exchange.phase = Exchange::Phase::kBody;
  exchange.progress = env_.clock.Steady();
  exchange.head_only = exchange.request->method == "HEAD";
  ++reading_;
  if (exchange.request->path.empty() && exchange.refusal == 0) exchange.refusal = 400;
  switch (exchange.refusal) {
    case 0:
      break;
    case 431:
      return Refuse(exchange, 431, "the request has too many or too long header fields");
    case 414:
      return Refuse(exchange, 414, "the request line is too long");
    default:
      return Refuse(exchange, 400, "the request target is not a path");
  }
  if (end) return OnRequestEnd(exchange);
  size_t length = 0;
  if (const auto text = exchange.request->headers.Find("content-length")) {
    std::from_chars(text->data(), text->data() + text->size(), length);
  }
  if (length > env_.limits.body_bytes) {
    Refuse(exchange, 413,
           fmt::format("the request body is larger than {} bytes", env_.limits.body_bytes));
  }
}

void Http2::OnData(int32_t id, std::string_view bytes) {
  Exchange* exchange = Find(id);
  if (exchange == nullptr) return;
  if (exchange->phase == Exchange::Phase::kLingering) {
    exchange->span_bytes += bytes.size();
    if (exchange->span_bytes > kLingerBodyBytes) EndLingering(*exchange);
  }
  if (exchange->phase != Exchange::Phase::kBody) return;
  std::string& body = exchange->request->body;
  if (body.size() + bytes.size() > env_.limits.body_bytes) {
    return Refuse(*exchange, 413,
                  fmt::format("the request body is larger than {} bytes", env_.limits.body_bytes));
  }
  if (body_bytes_ + bytes.size() > std::max(kConnectionBodies, env_.limits.body_bytes)) {
    return Refuse(*exchange, 429, "too many request bodies at once on one connection");
  }
  if (!env_.bodies.Take(bytes.size())) {
    return Refuse(*exchange, 503,
                  "the server has too many request bodies to read; try again later");
  }
  exchange->body_taken += bytes.size();
  body_bytes_ += bytes.size();
  exchange->span_bytes += bytes.size();
  body += bytes;
}

void Http2::OnRequestEnd(Exchange& exchange) {
  exchange.request_ended = true;
  if (exchange.phase != Exchange::Phase::kBody) return;
  exchange.phase = Exchange::Phase::kHandling;
  --reading_;
  ReleaseBody(exchange);
  const std::unique_ptr<Request> request = std::move(exchange.request);
  if (request->body.capacity() < request->body.size() + kBodyPadding) {
    request->body.reserve(request->body.size() + kBodyPadding);
  }
  request->peer = peer_;
  request->protocol = 2;
  env_.counters.requests_http2.Add();
  host_.OnRequest(static_cast<uint32_t>(exchange.id), std::move(*request));
}

void Http2::OnClose(int32_t id) {
  const auto found = exchanges_.find(id);
  if (found == exchanges_.end()) return;
  // Removed from the table first, since the destructor of a Source may do anything.
  const std::unique_ptr<Exchange> exchange = std::move(found->second);
  exchanges_.erase(found);
  if (exchange->phase == Exchange::Phase::kHead) in_headers_ = false;
  if (exchange->phase == Exchange::Phase::kBody) --reading_;
  ReleaseBody(*exchange);
  if (exchange->flow != nullptr) {
    if (exchange->flow->is_stream()) {
      env_.counters.streams_now.Subtract();
    } else {
      --answering_;
    }
  }
  if (exchanges_.empty()) idle_since_ = env_.clock.Steady();
}

void Http2::ReleaseBody(Exchange& exchange) {
  env_.bodies.Give(exchange.body_taken);
  body_bytes_ -= std::exchange(exchange.body_taken, 0);
}

// --- answers -------------------------------------------------------------------------------------

void Http2::Submit(Exchange& exchange, const Response& head, std::optional<size_t> length) {
  exchange.phase = Exchange::Phase::kAnswering;
  exchange.progress = env_.clock.Steady();
  const fmt::format_int code(head.code);
  const fmt::format_int length_text(length.value_or(0));
  std::vector<nghttp2_nv> fields;
  fields.reserve(head.headers.size() + 3);
  fields.push_back(Field(":status", {code.data(), code.size()}));
  for (size_t i = 0; i < head.headers.size(); ++i) {
    const Header header = head.headers[i];
    if (!IsConnectionHeader(header.name)) {
      fields.push_back(Field(header.name, header.value, header.unique));
    }
  }
  fields.push_back(Field("date", env_.date.At(env_.clock.Now())));
  if (length) fields.push_back(Field("content-length", {length_text.data(), length_text.size()}));
  nghttp2_data_provider provider = {.source = {.ptr = &exchange}, .read_callback = Callbacks::Read};
  const bool empty = !exchange.flow->is_stream() && exchange.flow->ended();
  if (nghttp2_submit_response(session_, exchange.id, fields.data(), fields.size(),
                              empty ? nullptr : &provider) != 0) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, exchange.id, NGHTTP2_INTERNAL_ERROR);
  }
  host_.OnOutput();
}

}  // namespace berth::http
