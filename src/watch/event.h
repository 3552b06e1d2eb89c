// A change as watchers are told of it, kept once for all of them, and the bytes it was sent as: a
// frame is encoded by the first watcher that needs it and shared by all others of the same view
// (media type, API version, Table or not, ADDED or MODIFIED, ...).
//
// Threads: safe from any thread; nothing waits. Two threads that need the same frame first may both
// make it; one of the two is kept and both get that one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "state/change.h"

namespace berth::watch {

using FramePtr = std::shared_ptr<const std::string>;

class Event {
 public:
  /// Frames are kept for this many views; those of further ones are made anew each time.
  static constexpr size_t kMaxFrames = 8;

  /// `frame_bytes` counts what all events' frames take; may be null.
  explicit Event(state::Change change, std::shared_ptr<std::atomic<size_t>> frame_bytes = nullptr);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  int64_t Revision() const { return change_.revision; }
  uint16_t Resource() const { return change_.resource; }
  /// Null: deleted. A deletion is sent as Last() with Revision(): `AppendJson(out, Revision())`.
  const state::ObjectPtr& Object() const { return change_.object; }
  /// Null: created. What a selector matched before.
  const state::ObjectPtr& Previous() const { return change_.previous; }
  const state::ObjectPtr& Last() const { return change_.Last(); }

  /// The bytes of this event in a view; `make` is called if nobody has made them yet.
  FramePtr Frame(uint32_t view, const std::function<std::string()>& make) const;

  /// What it takes in memory without frames, roughly.
  size_t Bytes() const;

 private:
  struct Made {
    uint32_t view = 0;
    FramePtr frame = {};
    const Made* next = nullptr;
  };

  static const Made* Find(const Made* made, uint32_t view, size_t& count);

  const state::Change change_;
  const std::shared_ptr<std::atomic<size_t>> frame_bytes_;
  mutable std::atomic<const Made*> made_{nullptr};
};

using EventPtr = std::shared_ptr<const Event>;

}  // namespace berth::watch
