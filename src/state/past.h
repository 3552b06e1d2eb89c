// What the picture no longer holds, read from the store's history and decoded like the picture:
// changes after a revision, and pages of a state at a revision.
//
// Threads: a PastChanges belongs to one thread at a time and may wait for the disk or the network
// in Read. Errors: those of the store; kExpired when history no longer has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "state/change.h"
#include "state/resource.h"
#include "store/engine.h"

namespace berth::state {

struct PastBatch {
  std::vector<Change> changes = {};  // In order of revisions.
  int64_t progress = 0;              // Every change up to here has been handed out.
};

/// The changes of a prefix after a revision, in order, without gaps. Values that cannot be decoded
/// are not there, as in the picture.
class PastChanges {
 public:
  PastChanges(const Resources& resources, std::unique_ptr<store::Watch> watch);
  ~PastChanges();
  PastChanges(const PastChanges&) = delete;
  PastChanges& operator=(const PastChanges&) = delete;

  /// Up to `max` events' worth of them; none when it has reached the present.
  base::Result<PastBatch> Read(size_t max);

 private:
  const Resources& resources_;
  const std::unique_ptr<store::Watch> watch_;
};

struct PastPage {
  std::vector<ObjectPtr> objects = {};
  bool more = false;
  std::string last_key = {};  // Where to go on; also when nothing on the page could be decoded.
};

class Past {
 public:
  /// Both must outlive it and what it hands out.
  Past(store::Engine& engine, const Resources& resources)
      : engine_(engine), resources_(resources) {}

  std::unique_ptr<PastChanges> Changes(std::string prefix, int64_t after) const;

  /// One page of a prefix as it was right after `revision`, behind the key `after` (empty: from the
  /// beginning). `done` is called on the caller's thread or one of the engine; it must be quick.
  void ReadPage(std::string prefix, std::string after, int64_t revision, size_t limit,
                std::function<void(base::Result<PastPage>)> done) const;

 private:
  store::Engine& engine_;
  const Resources& resources_;
};

}  // namespace berth::state
