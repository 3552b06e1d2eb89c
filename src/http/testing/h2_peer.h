// An HTTP/2 client for tests, without a socket. Take returns the bytes it sends, and Give passes it
// the bytes it receives. Tests may put a socket in between.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::http {

class H2Peer {
 public:
  struct Answer {
    std::map<std::string, std::string> headers;
    std::string body;
    bool ended = false;              // The answer is complete.
    std::optional<uint32_t> closed;  // The error code with which the stream was closed.
  };
  using Fields = std::vector<std::pair<std::string, std::string>>;

  /// `window` is how many bytes the peer accepts per stream before it reads.
  explicit H2Peer(uint32_t window = 1U << 20, bool reads = true) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, reads ? 0 : 1);
    nghttp2_option_set_peer_max_concurrent_streams(option, UINT32_MAX);
    nghttp2_session_client_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 1);
    if (reads) {
      nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 1 << 24);
    }
  }
  ~H2Peer() { nghttp2_session_del(session_); }
  H2Peer(const H2Peer&) = delete;
  H2Peer& operator=(const H2Peer&) = delete;

  /// Sends a request. If `open`, its body never ends.
  int32_t Ask(const std::string& method, const std::string& path, const std::string& body = "",
              const Fields& fields = {}, bool open = false) {
    Fields all = {{":method", method}, {":scheme", "https"}, {":authority", "h"}, {":path", path}};
    all.insert(all.end(), fields.begin(), fields.end());
    std::vector<nghttp2_nv> nv;
    for (auto& [name, value] : all) {
      nv.push_back({.name = reinterpret_cast<uint8_t*>(name.data()),
                    .value = reinterpret_cast<uint8_t*>(value.data()),
                    .namelen = name.size(),
                    .valuelen = value.size(),
                    .flags = NGHTTP2_NV_FLAG_NONE});
    }
    nghttp2_data_provider provider = {.source = {.ptr = nullptr}, .read_callback = OnRead};
    const bool has_body = !body.empty() || open;
    const int32_t id = nghttp2_submit_request(session_, nullptr, nv.data(), nv.size(),
                                              has_body ? &provider : nullptr, nullptr);
    bodies_[id] = {.left = body, .open = open};
    return id;
  }

  void Reset(int32_t id) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  }
  void Ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }
  void Settings() { nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0); }
  void More(int32_t id, const std::string& body) {
    bodies_[id].left += body;
    nghttp2_session_resume_data(session_, id);
  }

  std::string Take() {
    std::string out;
    for (;;) {
      const uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
      if (size <= 0) return out;
      out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    }
  }
  bool Give(std::string_view bytes) {
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()),
                                    bytes.size()) >= 0;
  }

  Answer& answer(int32_t id) { return answers_[id]; }
  /// Returns the status code of the answer, or "" if it has not arrived yet.
  std::string Status(int32_t id) {
    const auto& headers = answers_[id].headers;
    const auto found = headers.find(":status");
    return found == headers.end() ? "" : found->second;
  }
  std::optional<uint32_t> goaway;
  uint32_t max_streams = 0;  // As announced by the server.

 private:
  struct Body {
    std::string left;
    bool open = false;
  };

  static H2Peer& Self(void* user) { return *static_cast<H2Peer*>(user); }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
    Self(user).answers_[frame->hd.stream_id].headers.emplace(
        std::string(reinterpret_cast<const char*>(name), name_size),
        std::string(reinterpret_cast<const char*>(value), value_size));
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size,
                    void* user) {
    Self(user).answers_[id].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) Self(user).goaway = frame->goaway.error_code;
    if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
      Self(user).max_streams =
          nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    }
    if ((frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      Self(user).answers_[frame->hd.stream_id].ended = true;
    }
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t id, uint32_t code, void* user) {
    Self(user).answers_[id].closed = code;
    return 0;
  }
  static ssize_t OnRead(nghttp2_session*, int32_t id, uint8_t* out, size_t room, uint32_t* flags,
                        nghttp2_data_source*, void* user) {
    Body& body = Self(user).bodies_[id];
    const size_t part = std::min(room, body.left.size());
    if (part == 0 && body.open) return NGHTTP2_ERR_DEFERRED;
    body.left.copy(reinterpret_cast<char*>(out), part);
    body.left.erase(0, part);
    if (body.left.empty() && !body.open) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(part);
  }

  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Answer> answers_;
  std::map<int32_t, Body> bodies_;
};

}  // namespace berth::http
