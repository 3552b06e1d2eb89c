// Long answers. A Source is pulled by the io thread whenever the client can take more, so nothing
// queues up for a slow client: what a stream has to say next is kept once, by whoever makes it.
//
// A Signal tells the sources that wait on it that there is more. It belongs to the maker (a hub of
// events, say) and must outlive the sources that name it. Thousands of streams may wait on one.
//
//   hub thread:  publish the event; signal.Notify();
//   io threads:  pull every stream that waits on the signal, as far as its client can take it.
//
// A notification is never lost: Pull sees whatever was published before Notify, or the stream is
// pulled once more.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "http/pieces.h"

namespace berth::http {

class Signal {
 public:
  Signal();
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  /// From any thread. Costs a short lock and, for each io thread that has streams waiting and has
  /// not been told yet, one wake-up.
  void Notify();

  class State;
  /// For the connection code.
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  const std::shared_ptr<State> state_;
};

enum class Pulled {
  kMore,   // Something was added, and there may be more: pull again when the client has taken it.
  kWait,   // What was added, if anything, is all for now: pull again on the signal or at wake_at.
  kEnd,    // What was added is the last: the answer ends well.
  kAbort,  // The answer breaks off so that the client notices.
};

/// All functions, the destructor too, are called on the io thread of the connection (the destructor
/// elsewhere only when the stream never began, because its client or its server was gone).
class Source {
 public:
  virtual ~Source() = default;

  /// Adds bytes to `out`, about `room` of them: it may add the piece that passes that mark, but not
  /// another one. Must not block and must not throw.
  virtual Pulled Pull(Pieces& out, size_t room) = 0;

  /// What to wait on after kWait; asked before and after each Pull. It may differ from time to
  /// time.
  virtual Signal* signal() { return nullptr; }
  /// When to pull again though there was no signal; asked after kWait.
  virtual std::optional<base::SteadyTime> wake_at() { return std::nullopt; }

  /// The server is going down: end soon and well. Pull is called next.
  virtual void OnDrain() {}
};

}  // namespace berth::http
