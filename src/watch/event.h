// A change as it is sent to watchers, kept once for all of them, with the bytes that were sent. The
// first watcher that needs a frame encodes it. All other watchers of the same view (media type, API
// version, Table or not, ADDED or MODIFIED, ...) share it.
//
// Threads: every function may be called from any thread, and none waits. Two threads that need a
// new frame at the same time may both encode it. One of the two frames is kept and both threads get
// that one.
#pragma once

#include <absl/functional/function_ref.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "state/change.h"

namespace berth::watch {

using FramePtr = std::shared_ptr<const std::string>;

class Event {
 public:
  /// Frames are kept for this many views. Those of further views are encoded each time.
  static constexpr size_t kMaxFrames = 8;

  /// `frame_bytes` counts the bytes of the frames of all events. It may be null.
  explicit Event(state::Change change, std::shared_ptr<std::atomic<size_t>> frame_bytes = nullptr);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  int64_t Revision() const { return change_.revision; }
  uint16_t Resource() const { return change_.resource; }
  /// Returns null if the object was deleted. A deletion is sent as Last() with Revision():
  /// `AppendJson(out, Revision())`.
  const state::ObjectPtr& Object() const { return change_.object; }
  /// Returns the state before the change, which selectors are matched with too. Returns null if the
  /// object was created.
  const state::ObjectPtr& Previous() const { return change_.previous; }
  const state::ObjectPtr& Last() const { return change_.Last(); }

  /// Returns the bytes of this event in a view. Calls `make` if the event has no such frame yet.
  FramePtr Frame(uint32_t view, absl::FunctionRef<std::string()> make) const;

  /// Returns about how many bytes of memory the event takes, without frames.
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
