// A protocol turns received bytes into requests and answers into bytes to send, without a socket.
// Http1 and Http2 implement it. The connection passes the bytes it reads to the protocol, asks it
// for output whenever the client has taken the last output, and notifies it when a deadline has
// passed. Tests and fuzzers do the same.
//
// All functions are called on one thread. Output is only made in Produce, so at most the output of
// one Produce and the pieces of finished answers wait for a slow client.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/counters.h"
#include "http/head.h"
#include "http/limits.h"
#include "http/mailbox.h"
#include "http/message.h"
#include "http/source.h"

namespace berth::http {

/// The objects that the protocols of one io thread share. They must outlive the protocols.
struct ProtocolEnv {
  const Limits& limits;
  const base::Clock& clock;
  const std::function<Response(int code, std::string_view text)>& on_error;
  Counters& counters;
  BodyBudget& bodies;
  BodyBudget& answers;
  DateText& date;
  std::shared_ptr<Mailbox> mailbox;
};

/// The connection that a protocol belongs to.
class ProtocolHost {
 public:
  virtual ~ProtocolHost() = default;
  /// Called with a whole request. The answer may arrive while this is still running.
  virtual void OnRequest(uint32_t stream, Request request) = 0;
  /// Called when there may be something to Produce. The function must only take note.
  virtual void OnOutput() = 0;
  /// Called like OnOutput for a stream that waited, when no other call is under way. The function
  /// may call Produce at once. The protocol may be destroyed when this returns.
  virtual void OnWoken() { OnOutput(); }
};

class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual void Receive(std::string_view bytes) = 0;
  /// Called when the client will send no more.
  virtual void ReceiveEnd() = 0;
  /// Returns false while received input has to be handled first. The connection then reads less,
  /// but it still reads, so that it notices a client that disconnects.
  virtual bool WantsInput() const = 0;

  /// Appends up to about `room` bytes. If it appends less, there is no more output for now.
  virtual void Produce(std::string& out, size_t room) = 0;
  /// Returns whether the connection should be closed once all produced output is written.
  virtual bool Done() const = 0;

  /// Finish and Stream do nothing if the stream no longer exists or is already answered.
  virtual void Finish(uint32_t stream, Response response) = 0;
  virtual void Stream(uint32_t stream, Response head, std::unique_ptr<Source> source) = 0;

  /// Takes no more requests, and ends when those under way are answered.
  virtual void Drain() = 0;

  virtual std::optional<base::SteadyTime> Deadline() const = 0;
  virtual void OnDeadline(base::SteadyTime now) = 0;
  /// Returns how long the client may take nothing of the output that waits for it.
  virtual std::chrono::nanoseconds StallLimit() const = 0;
};

}  // namespace berth::http
