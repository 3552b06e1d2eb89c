// A protocol as a machine of bytes in and bytes out, without a socket: Http1 and Http2 are two.
// The connection feeds it what it reads, asks it for what to write whenever the client has taken
// the last of it, and tells it when a deadline has passed. Tests and fuzzers do the same.
//
// Everything happens on one thread. Output is only made in Produce, so what waits for a slow client
// is at most what one Produce gave plus the pieces of answers that are there.
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

/// What the protocols of one io thread share. Outlives them.
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

/// The connection a protocol belongs to.
class ProtocolHost {
 public:
  virtual ~ProtocolHost() = default;
  /// A whole request. The answer may come back while this is still running.
  virtual void OnRequest(uint32_t stream, Request request) = 0;
  /// There may be something to Produce. Must only take note.
  virtual void OnOutput() = 0;
};

class Protocol {
 public:
  virtual ~Protocol() = default;

  virtual void Receive(std::string_view bytes) = 0;
  /// The client will send no more.
  virtual void ReceiveEnd() = 0;
  /// False while what was received has to be dealt with first. Less is read then, not nothing:
  /// a client that goes away is noticed.
  virtual bool WantsInput() const = 0;

  /// Appends up to about `room` bytes. Nothing appended: there is nothing for now.
  virtual void Produce(std::string& out, size_t room) = 0;
  /// Nothing more will be said or heard: close when all that was produced is written.
  virtual bool Done() const = 0;

  /// Nothing happens if the stream is gone or answered.
  virtual void Finish(uint32_t stream, Response response) = 0;
  virtual void Stream(uint32_t stream, Response head, std::unique_ptr<Source> source) = 0;

  /// No more requests; end when those that are there are answered.
  virtual void Drain() = 0;

  virtual std::optional<base::SteadyTime> Deadline() const = 0;
  virtual void OnDeadline(base::SteadyTime now) = 0;
  /// How long the client may take nothing of what is there for it.
  virtual std::chrono::nanoseconds StallLimit() const = 0;
};

}  // namespace berth::http
