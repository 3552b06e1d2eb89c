// HTTP/1.1 as a Protocol (see protocol.h). It handles one request at a time. Requests that are sent
// ahead wait in a bounded buffer. After an answer to HTTP/1.0 the connection is closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/outflow.h"
#include "http/protocol.h"

namespace berth::http {

class Http1 final : public Protocol, public FlowHost {
 public:
  Http1(ProtocolEnv& env, ProtocolHost& host, std::shared_ptr<const Peer> peer);
  ~Http1() override;
  Http1(const Http1&) = delete;
  Http1& operator=(const Http1&) = delete;

  void Receive(std::string_view bytes) override;
  void ReceiveEnd() override;
  bool WantsInput() const override;
  void Produce(std::string& out, size_t room) override;
  bool Done() const override { return phase_ == Phase::kDone; }
  void Finish(uint32_t stream, Response response) override;
  void Stream(uint32_t stream, Response head, std::unique_ptr<Source> source) override;
  void Drain() override;
  std::optional<base::SteadyTime> Deadline() const override;
  void OnDeadline(base::SteadyTime now) override;
  std::chrono::nanoseconds StallLimit() const override;

 private:
  class Parser;

  void OnWoken(int32_t /*stream*/) override { host_.OnWoken(); }

  enum class Phase {
    kIdle,       // No byte of the next request has arrived.
    kHead,       // The head of the request is being read.
    kBody,       // The body of the request is being read.
    kHandling,   // The handler has the request.
    kAnswering,  // The answer is known and is being sent.
    kDone,       // The connection is to be closed.
  };

  /// Parses what is buffered until a request is handed out or more is needed.
  void Advance();
  size_t Parse(std::string_view bytes);
  bool CheckHead(std::string_view rest);
  bool BeginBody();
  bool CheckBody(std::string_view rest);
  void HandOut();
  /// Answers a request that will not reach the handler, and closes.
  void Refuse(int code, std::string_view text);
  void RefuseBy(int parser_error);
  void BeginAnswer(const Response& head, std::unique_ptr<Outflow> flow, std::string_view framing);
  /// Appends part of the body. Returns false if no part is available now.
  bool ProducePart(std::string& out, size_t room);
  void EndAnswer(bool clean);
  void BeginNext();
  void ReleaseBody();
  bool Reading() const { return phase_ <= Phase::kBody; }

  ProtocolEnv& env_;
  ProtocolHost& host_;
  const std::shared_ptr<const Peer> peer_;

  Phase phase_ = Phase::kIdle;
  uint32_t stream_ = 0;  // The number of the request that is read or answered.
  std::string in_;       // Received, not yet parsed.
  bool advancing_ = false;
  bool input_ended_ = false;
  bool draining_ = false;
  bool close_after_ = false;  // The connection is closed after the current answer.

  std::unique_ptr<Parser> parser_;
  base::SteadyTime since_;         // When the phase, or the span of the body, began.
  size_t span_bytes_ = 0;          // Bytes of the body in this span.
  size_t head_bytes_ = 0;          // Bytes of the head so far.
  size_t body_raw_ = 0;            // Bytes of the body, with chunk headers.
  size_t body_taken_ = 0;          // Bytes taken from the server's budget for bodies.
  bool head_only_ = false;         // HEAD
  bool old_ = false;               // HTTP/1.0
  bool chunked_ = false;           // The answer is chunked.
  std::string ready_;              // Head of the answer, or "100 Continue", not yet produced.
  std::unique_ptr<Outflow> flow_;  // Body of the answer.
};

}  // namespace berth::http
