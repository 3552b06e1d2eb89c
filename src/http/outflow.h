// The body of one answer on its way out: pieces that are there, and perhaps a Source that has more.
// Shared by both protocols. Io thread only.
#pragma once

#include <functional>
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

class Outflow final : private Waiter {
 public:
  enum class State {
    kBytes,    // pieces() holds something.
    kWaiting,  // Nothing until woken.
    kEnd,
    kAbort,
  };

  /// A body that is all there. `held` bytes of `budget` are given back with it.
  explicit Outflow(Pieces pieces, BodyBudget* budget = nullptr, size_t held = 0)
      : pieces_(std::move(pieces)), budget_(budget), held_(held) {}
  /// `woken` is called when a stream that waits should be filled again; it must only take note.
  Outflow(std::unique_ptr<Source> source, std::shared_ptr<Mailbox> mailbox,
          std::function<void()> woken);
  ~Outflow() override;
  Outflow(const Outflow&) = delete;
  Outflow& operator=(const Outflow&) = delete;

  /// Pulls the source unless there are bytes already.
  State Fill(size_t room);
  Pieces& pieces() { return pieces_; }

  bool is_stream() const { return source_ != nullptr; }
  /// Nothing is left, and nothing will come.
  bool ended() const { return pieces_.empty() && ended_; }
  /// What is in pieces() is the last.
  bool last() const { return ended_; }
  /// Nothing is there for the client.
  bool waiting() const { return waiting_ && pieces_.empty(); }
  /// When a waiting stream wants to be filled again at the latest.
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
  std::shared_ptr<Mailbox> mailbox_;
  std::function<void()> woken_;
  std::optional<base::SteadyTime> wake_at_;
  bool waiting_ = false;
  bool ended_ = true;  // The source, if any, has no more.
  bool aborted_ = false;
};

/// How much of `env.answers` the body of an answer holds from now on. When there is not that much
/// left, it becomes an answer that says so.
size_t HoldAnswer(ProtocolEnv& env, Response& answer);

}  // namespace berth::http
