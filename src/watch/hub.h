// The recent events of every resource, and the watches that wait for them. Each resource has a
// separate ring, so that a busy resource does not push out the events of another. All rings share
// one byte budget, and the largest ring drops events first. Watches are cursors (watch/cursor.h). A
// cursor that is not read holds no events and slows down no other cursor.
//
// Threads: OnBatch and OnReset are called by the follower. A reader holds a ring's lock for a few
// instructions only: it takes a reference to a segment, which is only ever appended to, and reads
// the segment without the lock. A Waker is called on the follower's thread, with no lock held, once
// for each batch with events of its scope. It must be quick. It may be called once more after its
// last cursor is destroyed, unless that happened on the follower's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "state/change.h"
#include "state/past.h"
#include "state/resource.h"
#include "watch/event.h"

namespace berth::watch {

/// The watched objects of a resource: all, those of a namespace, or one.
struct Scope {
  enum class Kind : uint8_t { kAll, kNamespace, kObject };

  Kind kind = Kind::kAll;
  uint16_t resource = 0;
  /// The resource's prefix, `<prefix><namespace>/`, or the object's key (state::Resources).
  std::string key = {};

  bool Has(const state::Object& object) const {
    if (kind == Kind::kAll) return object.Resource() == resource;
    return kind == Kind::kObject ? object.KeyIs(key) : object.KeyStartsWith(key);
  }
};

/// Called when there are events of a scope. One call wakes all cursors of the scope that share the
/// waker.
using Waker = std::shared_ptr<const std::function<void()>>;

struct HubOptions {
  size_t ring_bytes = size_t{32} << 20;  // For the events of all resources with their frames.
  size_t segment_events = 128;
  size_t segment_bytes = size_t{256} << 10;
};

class Ring;

class Hub final : public state::Listener {
 public:
  /// `past` is read when a cursor needs events that have left the ring. `past` and `resources` must
  /// outlive the hub, and the hub must outlive its cursors.
  Hub(const state::Past& past, const state::Resources& resources, HubOptions options);
  ~Hub() override;

  void OnBatch(const std::vector<state::Change>& changes, int64_t revision) override;
  void OnReset(const std::vector<state::Change>& changes, int64_t revision) override;

  /// Returns the revision up to which every event is in the rings or has left them.
  int64_t Head() const { return head_.load(std::memory_order_acquire); }

  /// Figures for metrics. `bytes` includes frames.
  struct Stats {
    size_t events = 0;
    size_t bytes = 0;
    size_t cursors = 0;
  };
  Stats GetStats() const;
  /// Returns the revision after which the ring of the resource holds every event.
  int64_t Floor(uint16_t resource) const;

 private:
  friend class Cursor;

  static void CallAll(const std::vector<Waker>& wakes);
  void Evict();

  const state::Past& past_;
  const HubOptions options_;
  const std::shared_ptr<std::atomic<size_t>> frame_bytes_;
  std::vector<std::unique_ptr<Ring>> rings_;  // By resource.
  std::atomic<int64_t> head_{0};
};

}  // namespace berth::watch
