// All objects and what becomes of them: first everything there is, in portions, then every change.
// When it has fallen behind what the store's history holds, it begins again.
//
// Threads: used by one. `wake` is raised when there is something to read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "controllers/wake.h"
#include "state/follower.h"
#include "watch/cursor.h"
#include "watch/hub.h"

namespace berth::controllers {

class Reader {
 public:
  virtual ~Reader() = default;

  /// Nothing that was told before counts.
  virtual void Begin() = 0;
  /// `now` null: it is gone; `before` null: it was not there, or has not been told of before.
  virtual void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) = 0;
};

class Feed {
 public:
  /// All must outlive it.
  Feed(const state::Follower& follower, watch::Hub& hub, std::vector<Reader*> readers, WakePtr wake,
       const base::Clock& clock, base::Logger& log);

  /// Tells the readers a portion of what there is to tell; whether there was anything.
  bool Read();

  /// Every object and change up to here has been told; nothing while the objects are being told,
  /// or when changes cannot be read at present.
  std::optional<int64_t> Told() const { return told_; }

  /// When to Read again, other than when woken.
  base::SteadyTime NextDue() const { return retry_at_; }

 private:
  void Begin();
  bool ReadObjects();
  bool ReadChanges();

  const state::Follower& follower_;
  watch::Hub& hub_;
  const std::vector<Reader*> readers_;
  const WakePtr wake_;
  const base::Clock& clock_;
  base::Logger& log_;

  state::SnapshotPtr snapshot_;  // While its objects are being told,
  size_t resource_ = 0;          // from here on.
  std::string from_;
  std::vector<std::unique_ptr<watch::Cursor>> cursors_;  // By resource.
  std::optional<int64_t> told_;
  base::SteadyTime retry_at_ = base::SteadyTime::max();
};

}  // namespace berth::controllers
