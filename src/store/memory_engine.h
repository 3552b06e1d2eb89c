// The engine for tests and simulation: everything in memory, deterministic, and able to misbehave
// on command. Expiry follows the clock it is given, when somebody calls Tick (or any other
// function).
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
  Revision base;
  size_t history_bytes = size_t{64} << 20;  // Older events are compacted away.
  size_t ring_bytes = size_t{16} << 20;
  /// Asked for every commit, in order; empty: no faults.
  std::function<Fault(const Txn&)> fault;
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
