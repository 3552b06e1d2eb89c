// Long answers. The io thread pulls from a Source whenever the client can take more, so nothing
// queues up for a slow client. The producer keeps the data once for all streams.
//
// A Signal notifies the sources that wait on it that there is more. It belongs to the producer (for
// example a hub of events) and must outlive the sources that name it. Thousands of streams may wait
// on one signal.
//
//   hub thread:  publish the event; signal.Notify();
//   io threads:  pull every stream that waits on the signal, as far as its client can take it.
//
// A notification is never lost. Either Pull sees what was published before Notify, or the stream is
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

  /// Wakes the waiting streams. May be called from any thread. Costs a short lock and one wake-up
  /// for each io thread that has waiting streams and has not been notified yet.
  void Notify();

  class State;
  /// For the connection code.
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  const std::shared_ptr<State> state_;
};

enum class Pulled {
  kMore,   // Bytes were added. Pull again for more when the client has taken them.
  kWait,   // There are no more bytes for now. Pull again on the signal or at wake_at.
  kEnd,    // There are no more bytes, and the answer ends cleanly.
  kAbort,  // The answer is cut off in a way that the client notices.
};

/// All functions, including the destructor, are called on the io thread of the connection. Only if
/// the stream never began, because its client or its server no longer existed, the destructor may
/// run on another thread.
class Source {
 public:
  virtual ~Source() = default;

  /// Adds about `room` bytes to `out`. It may add the piece that exceeds `room`, but no piece after
  /// that. Must not block and must not throw.
  virtual Pulled Pull(Pieces& out, size_t room) = 0;

  /// Returns the signal to wait on after kWait. Called before and after each Pull. It may return
  /// different signals over time.
  virtual Signal* signal() { return nullptr; }
  /// Returns when to pull again even without a signal. Called after kWait.
  virtual std::optional<base::SteadyTime> wake_at() { return std::nullopt; }

  /// Called when the server shuts down. The source should end soon and cleanly. Pull is called
  /// next.
  virtual void OnDrain() {}
};

}  // namespace berth::http
