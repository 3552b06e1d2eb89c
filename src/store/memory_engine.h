// The engine for tests and simulation: everything in memory, deterministic, and able to misbehave
// on command. The same calls with the same faults, clock and random numbers give the same answers,
// revisions, events and wakes in the same order. Expiry follows the clock it is given, when
// somebody calls Tick (or any other function).
//
// Threads: it has none of its own. Replies and wakes come inside the calls, in the order of the
// commits: usually the caller's own before its call returns, but a call made inside a reply, or
// while another thread is in a call, may leave its reply to that one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/random.h"
#include "store/engine.h"

namespace berth::store {

/// What becomes of one commit.
enum class Fault : uint8_t {
  kNone,
  kFail,       // Refused; nothing happens.
  kLoseReply,  // Happens, but the caller gets kUnknown.
  kLoseWrite,  // Does not happen, and the caller gets kUnknown.
  kHold,       // Happens; the reply waits for Release.
};

struct MemoryOptions {
  Revision base = {};  // Revisions begin above it; what lies before is compacted.
  size_t history_bytes = size_t{64} << 20;  // Older events are compacted away.
  size_t ring_bytes = size_t{16} << 20;
  /// Asked for every commit that keeps the limits, in order; empty: no faults. Must not call into
  /// the engine.
  std::function<Fault(const Txn&)> fault = {};
};

class MemoryEngine : public Engine {
 public:
  /// `clock` must outlive it.
  static std::unique_ptr<MemoryEngine> Make(MemoryOptions options, const base::Clock& clock);

  /// Expires what is due.
  virtual void Tick() = 0;

  /// Replies held back by kHold.
  virtual size_t Held() const = 0;
  /// Lets go of one of them, the oldest; or one that `random` picks, so that replies come in
  /// another order than the commits. False when none is held.
  virtual bool Release() = 0;
  virtual bool Release(base::Random& random) = 0;
};

}  // namespace berth::store
