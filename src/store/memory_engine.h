// The engine for tests and simulation. It keeps everything in memory, is deterministic, and injects
// faults on request. The same calls with the same faults, clock and random numbers give the same
// answers, revisions, events and wakes in the same order. Keys expire by the given clock, when Tick
// or any other function is called.
//
// Threads: the engine has no threads of its own. Replies and wakes happen inside the calls, in the
// order of the commits. Usually a caller gets its own reply before its call returns. But if the
// call was made inside a reply, or while another thread is in a call, the outer or the other call
// may deliver the reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/random.h"
#include "store/engine.h"

namespace berth::store {

/// The outcome of one commit.
enum class Fault : uint8_t {
  kNone,
  kFail,       // The commit is refused and does not happen.
  kLoseReply,  // The commit happens, but the caller gets kUnknown.
  kLoseWrite,  // The commit does not happen, and the caller gets kUnknown.
  kHold,       // The commit happens, and its reply waits for Release.
};

struct MemoryOptions {
  Revision base = {};  // Revisions begin above it. History up to it counts as compacted.
  size_t history_bytes = size_t{64} << 20;  // Events beyond this many bytes are compacted.
  size_t ring_bytes = size_t{16} << 20;
  /// Called in order for every commit that keeps the limits. An empty function means no faults. It
  /// must not call into the engine.
  std::function<Fault(const Txn&)> fault = {};
};

class MemoryEngine : public Engine {
 public:
  /// Makes an engine. `clock` must outlive it.
  static std::unique_ptr<MemoryEngine> Make(MemoryOptions options, const base::Clock& clock);

  /// Deletes the keys whose time to live has ended.
  virtual void Tick() = 0;

  /// Returns the number of replies that kHold holds.
  virtual size_t Held() const = 0;
  /// Delivers one held reply: the oldest, or one that `random` picks, so that replies come in
  /// another order than the commits. Returns false if no reply is held.
  virtual bool Release() = 0;
  virtual bool Release(base::Random& random) = 0;
};

}  // namespace berth::store
