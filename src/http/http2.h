// HTTP/2 as a Protocol (see protocol.h). nghttp2 does frames, header compression and flow control.
// This class decides what a request is, what it may cost and how its answer is sent.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/h2_limits.h"
#include "http/outflow.h"
#include "http/protocol.h"

namespace berth::http {

/// Views bytes of nghttp2 as text.
inline std::string_view TextView(const uint8_t* bytes, size_t length) {
  return {reinterpret_cast<const char*>(bytes), length};
}

class Http2 final : public Protocol, public FlowHost {
 public:
  Http2(ProtocolEnv& env, ProtocolHost& host, std::shared_ptr<const Peer> peer);
  ~Http2() override;
  Http2(const Http2&) = delete;
  Http2& operator=(const Http2&) = delete;

  void Receive(std::string_view bytes) override;
  void ReceiveEnd() override { dead_ = true; }
  bool WantsInput() const override { return !Done(); }
  void Produce(std::string& out, size_t room) override;
  bool Done() const override;
  void Finish(uint32_t stream, Response response) override;
  void Stream(uint32_t stream, Response head, std::unique_ptr<Source> source) override;
  void Drain() override;
  std::optional<base::SteadyTime> Deadline() const override;
  void OnDeadline(base::SteadyTime now) override;
  std::chrono::nanoseconds StallLimit() const override;

 private:
  /// A request and its answer.
  struct Exchange {
    /// kLingering means that the answer was sent before the request was complete. The rest of the
    /// request is discarded.
    enum class Phase { kHead, kBody, kHandling, kAnswering, kLingering };

    int32_t id = 0;
    Phase phase = Phase::kHead;
    bool request_ended = false;
    bool head_only = false;
    int refusal = 0;
    size_t header_bytes = 0;
    size_t body_taken = 0;  // Bytes taken from the budgets for bodies.
    std::unique_ptr<Request> request = std::make_unique<Request>();
    std::unique_ptr<Outflow> flow;
    base::SteadyTime progress;  // When data last went out, or the span of the body began.
    size_t span_bytes = 0;
  };
  struct Callbacks;  // The functions that nghttp2 calls.

  Exchange* Find(int32_t id);
  int OnHeader(int32_t id, std::string_view name, std::string_view value);
  int OnBeginFrame(uint8_t type);
  int OnBeginHeaders(const nghttp2_frame& frame);
  void OnHeadEnd(Exchange& exchange, bool end);
  void OnData(int32_t id, std::string_view bytes);
  void OnRequestEnd(Exchange& exchange);
  void OnClose(int32_t id);
  void OnSent(const nghttp2_frame& frame);
  int OnFrame(const nghttp2_frame& frame);
  ssize_t Read(Exchange& exchange, size_t room, uint32_t& flags);
  int Send(Exchange& exchange, std::string_view frame_head, size_t length);

  void Refuse(Exchange& exchange, int code, std::string_view text);
  void Submit(Exchange& exchange, const Response& head, std::optional<size_t> length);
  void ReleaseBody(Exchange& exchange);
  void EndLingering(Exchange& exchange);
  void OnWoken(int32_t stream) override;
  void Resume(int32_t id);
  void Sweep(base::SteadyTime now);
  void WakeDue(base::SteadyTime now);
  /// Sends GOAWAY with this reason and ends the connection.
  void Terminate(uint32_t reason);
  int Abuse();
  std::chrono::nanoseconds SweepPeriod() const;

  ProtocolEnv& env_;
  ProtocolHost& host_;
  const std::shared_ptr<const Peer> peer_;
  H2Limits guard_;
  nghttp2_session* session_ = nullptr;
  absl::flat_hash_map<int32_t, std::unique_ptr<Exchange>> exchanges_;
  std::string* out_ = nullptr;  // Where Send puts data while Produce runs.
  size_t out_limit_ = 0;        // The size up to which Send may fill it.

  bool dead_ = false;         // The connection is to be closed at once.
  bool terminating_ = false;  // GOAWAY is the last frame to send.
  bool draining_ = false;
  bool greeted_ = false;            // The client has sent a frame.
  bool in_headers_ = false;         // A header block has begun.
  base::SteadyTime headers_since_;  // When the header block, or the connection, began.
  base::SteadyTime idle_since_;
  base::SteadyTime swept_;
  size_t reading_ = 0;                         // Exchanges whose body is being read.
  size_t answering_ = 0;                       // Exchanges whose ordinary answer is being sent.
  size_t body_bytes_ = 0;                      // Bytes of all bodies that are being read.
  std::optional<base::SteadyTime> next_wake_;  // Not later than the first wake_at of a stream.
};

}  // namespace berth::http
