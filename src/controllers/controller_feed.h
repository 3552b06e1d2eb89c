// Reads all objects and their changes: first every existing object, in portions, then every change.
// If the store's history no longer has the next change, the feed begins again.
//
// Threads: used by one thread. `wake` is raised when there is something to read.
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
#include "state/resource.h"
#include "watch/cursor.h"
#include "watch/hub.h"

namespace berth::controllers {

class Reader {
 public:
  virtual ~Reader() = default;

  /// Everything that was reported before is void.
  virtual void Begin() = 0;
  /// `now` is null if the object was deleted. `before` is null if the object is new, or was not
  /// reported before.
  virtual void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) = 0;
};

class Feed {
 public:
  /// All must outlive it.
  Feed(const state::Follower& follower, const state::Resources& resources, watch::Hub& hub,
       std::vector<Reader*> readers, WakePtr wake, const base::Clock& clock, base::Logger& log);

  /// Reports a portion of the objects or changes to the readers. Returns whether there was
  /// anything.
  bool Read();

  /// Returns the revision up to which every object and change has been reported. Returns nullopt
  /// while the existing objects are being reported, or while changes cannot be read.
  std::optional<int64_t> ReportedUpTo() const { return reported_; }

  /// Returns when to call Read again, apart from when it is woken.
  base::SteadyTime NextDue() const { return retry_at_; }

 private:
  void Begin();
  bool ReadObjects();
  bool ReadChanges();

  const state::Follower& follower_;
  const state::Resources& resources_;
  watch::Hub& hub_;
  const std::vector<Reader*> readers_;
  const WakePtr wake_;
  const base::Clock& clock_;
  base::Logger& log_;

  state::SnapshotPtr snapshot_;  // The snapshot whose objects are being reported.
  size_t resource_ = 0;          // Where to continue in it.
  std::string from_;
  std::vector<std::unique_ptr<watch::Cursor>> cursors_;  // By resource.
  std::optional<int64_t> reported_;
  base::SteadyTime retry_at_ = base::SteadyTime::max();
};

}  // namespace berth::controllers
