// The recent events of every resource, and who waits for them. Each resource has a ring of its own,
// so that a busy one does not push out another's; together they keep to a byte budget, and the
// largest gives way first. Watches are cursors (watch/cursor.h): one that is not read holds nothing
// and slows nobody down.
//
// Threads: OnBatch and OnReset are the follower's. A reader holds a ring's lock for a handful of
// instructions: it takes a reference to a segment, which is only ever added to, and reads without
// the lock. A notify is called on the follower's thread, with no lock held, at most once for each
// time a cursor found nothing; it must be quick and may be called once more after its cursor is
// gone, unless that was destroyed on the follower's thread.
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

/// Which objects of a resource: all, those of a namespace, or one.
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

struct HubOptions {
  size_t ring_bytes = size_t{32} << 20;  // Events of all resources with their frames.
  size_t segment_events = 128;
  size_t segment_bytes = size_t{256} << 10;
};

class Ring;

class Hub final : public state::Listener {
 public:
  /// `past` is read when a cursor needs what has left the ring. Both must outlive the hub, and the
  /// hub its cursors.
  Hub(const state::Past& past, const state::Resources& resources, HubOptions options);
  ~Hub() override;

  void OnBatch(const std::vector<state::Change>& changes, int64_t revision) override;
  void OnReset(const std::vector<state::Change>& changes, int64_t revision) override;

  /// Every event up to here is in the rings or has left them.
  int64_t Head() const { return head_.load(std::memory_order_acquire); }

  /// For metrics: events, their bytes with frames, and the oldest revision still covered.
  struct Stats {
    size_t events = 0;
    size_t bytes = 0;
    size_t cursors = 0;
  };
  Stats GetStats() const;
  /// The ring of the resource holds every event after this revision.
  int64_t Floor(uint16_t resource) const;

 private:
  friend class Cursor;

  void Evict();

  const state::Past& past_;
  const HubOptions options_;
  const std::shared_ptr<std::atomic<size_t>> frame_bytes_;
  std::vector<std::unique_ptr<Ring>> rings_;  // By resource.
  std::atomic<int64_t> head_{0};
};

}  // namespace berth::watch
