#include "watch/event.h"

#include <utility>

namespace berth::watch {

Event::Event(state::Change change, std::shared_ptr<std::atomic<size_t>> frame_bytes)
    : change_(std::move(change)), frame_bytes_(std::move(frame_bytes)) {}

Event::~Event() {
  const Made* made = made_.load(std::memory_order_acquire);
  while (made != nullptr) {
    if (frame_bytes_) frame_bytes_->fetch_sub(made->frame->size(), std::memory_order_relaxed);
    delete std::exchange(made, made->next);
  }
}

const Event::Made* Event::Find(const Made* made, uint32_t view, size_t& count) {
  for (count = 0; made != nullptr; made = made->next, ++count) {
    if (made->view == view) return made;
  }
  return nullptr;
}

FramePtr Event::Frame(uint32_t view, absl::FunctionRef<std::string()> make) const {
  const Made* first = made_.load(std::memory_order_acquire);
  size_t count = 0;
  if (const Made* made = Find(first, view, count)) return made->frame;

  auto frame = std::make_shared<const std::string>(make());
  auto mine = std::make_unique<Made>(Made{.view = view, .frame = frame});
  for (;;) {
    // Another thread may have added the frame in the meantime.
    if (const Made* made = Find(first, view, count)) return made->frame;
    if (count >= kMaxFrames) return frame;
    mine->next = first;
    if (made_.compare_exchange_weak(first, mine.get(), std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
      break;
    }
  }
  const Made* const kept = mine.release();  // The list owns it now.
  if (frame_bytes_) frame_bytes_->fetch_add(kept->frame->size(), std::memory_order_relaxed);
  return frame;
}

size_t Event::Bytes() const {
  // The previous state is, or was, counted by another event.
  return sizeof(Event) + 48 + (Last() ? Last()->Bytes() : 0);
}

}  // namespace berth::watch
