// The newest scene, for the documents, and the news about it, for the pages that are open.
//
// Threads: any. Scenes are shown by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "berth/ui/scene.h"
#include "ui/event_hub.h"

namespace berth::cli {

class SceneBoard {
 public:
  /// The clock must outlive the board.
  explicit SceneBoard(const base::Clock& clock) : hub_(clock) {}

  /// Replaces the scene, and tells the pages what differs.
  void Show(std::shared_ptr<const Scene> scene) EXCLUDES(mutex_);
  /// Says why the cluster is not followed, or nullopt that it is.
  void SetTrouble(std::optional<SceneTrouble> trouble) EXCLUDES(mutex_);

  struct Newest {
    std::shared_ptr<const Scene> scene = {};  ///< Null before the first one.
    std::optional<SceneTrouble> trouble = {};
    uint64_t version = 0;  ///< Grows with each change of either.
  };
  Newest newest() const EXCLUDES(mutex_);

  ui::EventHub& hub() { return hub_; }

 private:
  ui::EventHub hub_;
  mutable base::Mutex mutex_;
  Newest newest_ GUARDED_BY(mutex_);
};

}  // namespace berth::cli
