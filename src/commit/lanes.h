// The order of writes. All writes of one object form a lane: the first of them is under way, the
// others wait in their order. A write that was refused for a guard may wait for the lane of the
// guard's object. The number of writes is bounded.
//
// Not thread-safe: OpenWrites guards it. Nothing here calls back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "commit/op.h"
#include "state/text_map.h"

namespace berth::commit {

class Lanes {
 public:
  Lanes(size_t max_writes, size_t max_writes_per_key)
      : max_writes_(max_writes), max_writes_per_key_(max_writes_per_key) {}

  enum class Entered : uint8_t {
    kFirst,  // It may start.
    kWaits,  // Another write of the object is under way.
    kFull,   // It was not taken.
  };
  /// Appends the write to its object's lane.
  Entered Enter(const OpPtr& op);

  /// Notes that the write, the first of its lane, is in the store.
  void EnterStore(const Op& op);
  /// Notes that the write is no longer in the store. Appends the writes that waited for it to
  /// `ready`.
  void LeaveStore(const Op& op, Ops& ready);
  /// Lets `op` wait until the write of `key` that is in the store has left it. Returns false if
  /// there is no such write. Writes that are not in the store are not waited for, so no cycle of
  /// waiting writes can form.
  bool WaitForStore(const std::string& key, const OpPtr& op);

  /// Removes the write, the first of its lane. Appends to `ready` the writes that waited for it,
  /// and then the next write of its lane.
  void Leave(const Op& op, Ops& ready);

  /// Removes all writes and returns them, without those that waited for another lane a second time.
  Ops Clear();

  /// Returns the number of writes in all lanes.
  size_t Size() const { return size_; }

 private:
  struct Lane {
    std::deque<OpPtr> queue = {};  // The first is under way.
    bool in_store = false;
    Ops waiting = {};  // Writes of other lanes, see WaitForStore.
  };

  const size_t max_writes_;
  const size_t max_writes_per_key_;
  state::TextMap<Lane> lanes_;
  size_t size_ = 0;
};

}  // namespace berth::commit
