// The body of one answer while it is sent: pieces that are ready, and perhaps a Source that makes
// more. Both protocols use it, on the io thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "http/counters.h"
#include "http/mailbox.h"
#include "http/message.h"
#include "http/pieces.h"
#include "http/protocol.h"
#include "http/source.h"

namespace berth::http {

/// The protocol that a stream belongs to.
class FlowHost {
 public:
  /// Called when a waiting stream should be filled again. The stream may be destroyed when this
  /// returns.
  virtual void OnWoken(int32_t stream) = 0;

 protected:
  ~FlowHost() = default;
};

class Outflow final : private Waiter {
 public:
  enum class State {
    kBytes,    // pieces() is not empty.
    kWaiting,  // No bytes will come until the stream is woken.
    kEnd,
    kAbort,
  };

  /// Makes a body that is complete. Its destructor returns `held` bytes to `budget`.
  explicit Outflow(Pieces pieces, BodyBudget* budget = nullptr, size_t held = 0)
      : pieces_(std::move(pieces)), budget_(budget), held_(held) {}
  /// Makes a body that comes from `source`. The host and the object that `mailbox` refers to must
  /// outlive it.
  Outflow(std::unique_ptr<Source> source, const std::shared_ptr<Mailbox>& mailbox, FlowHost& host,
          int32_t stream);
  ~Outflow() override;
  Outflow(const Outflow&) = delete;
  Outflow& operator=(const Outflow&) = delete;

  /// Pulls from the source unless there are bytes already.
  State Fill(size_t room);
  Pieces& pieces() { return pieces_; }

  bool is_stream() const { return source_ != nullptr; }
  /// Returns whether no bytes are left and none will come.
  bool ended() const { return pieces_.empty() && ended_; }
  /// Returns whether the bytes in pieces() are the last ones.
  bool last() const { return ended_; }
  /// Returns whether the stream waits and has no bytes for the client.
  bool waiting() const { return waiting_ && pieces_.empty(); }
  /// Returns when a waiting stream has to be filled again at the latest.
  std::optional<base::SteadyTime> wake_at() const { return waiting_ ? wake_at_ : std::nullopt; }
  /// Ends the waiting.
  void StopWaiting();
  void Drain();

 private:
  void Woken() override;

  Pieces pieces_;
  BodyBudget* budget_ = nullptr;
  size_t held_ = 0;
  std::unique_ptr<Source> source_;
  const std::shared_ptr<Mailbox>* mailbox_ = nullptr;
  FlowHost* host_ = nullptr;
  int32_t stream_ = 0;
  std::optional<base::SteadyTime> wake_at_;
  bool waiting_ = false;
  bool ended_ = true;  // The source, if any, has no more bytes.
  bool aborted_ = false;
};

/// Takes the bytes of an answer's body from `env.answers` and returns how many it took. If not
/// enough are left, replaces the answer by a 503.
size_t HoldAnswer(ProtocolEnv& env, Response& answer);

}  // namespace berth::http
