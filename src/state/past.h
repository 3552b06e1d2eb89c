// Past states that the snapshot no longer holds: changes after a revision, and pages of the state
// at a revision. They are read from the store's history and decoded like the snapshot.
//
// Threads: a PastChanges belongs to one thread at a time. Its Read may wait for the disk or the
// network.
//
// Errors are those of the store. kExpired means that history no longer reaches back so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "state/change.h"
#include "state/resource.h"
#include "store/engine.h"

namespace berth::state {

struct PastBatch {
  std::vector<Change> changes = {};  // In order of revisions.
  int64_t progress = 0;              // All changes up to this revision have been returned.
};

/// The changes of a prefix between two revisions, in order and without gaps. Values that cannot be
/// decoded are left out, as in the snapshot.
class PastChanges {
 public:
  /// Those after `request.after` and up to `request.upto`. Both others must outlive it.
  PastChanges(store::Engine& engine, const Resources& resources, store::HistoryRequest request)
      : engine_(engine), resources_(resources), request_(std::move(request)) {}

  /// Returns the changes of the next `max` events at most. The batch that reaches `upto` is the
  /// last.
  base::Result<PastBatch> Read(size_t max);

 private:
  store::Engine& engine_;
  const Resources& resources_;
  store::HistoryRequest request_;  // What is still to be read.
};

struct PastPage {
  std::vector<ObjectPtr> objects = {};
  bool more = false;
  /// The next page begins after this key. It is set even if no value of the page could be decoded.
  std::string last_key = {};
};

class Past {
 public:
  /// Both must outlive this object and every PastChanges that it returns.
  Past(store::Engine& engine, const Resources& resources)
      : engine_(engine), resources_(resources) {}

  /// Returns a reader of the changes under `prefix` after the revision `after` and up to `upto`.
  std::unique_ptr<PastChanges> Changes(std::string prefix, int64_t after, int64_t upto) const;

  /// Reads one page of a prefix as it was right after `revision`. The page begins after the key
  /// `after`, or with the first key if `after` is empty. `done` is called on the caller's thread or
  /// on one of the engine's, and must be quick.
  void ReadPage(std::string prefix, std::string after, int64_t revision, size_t limit,
                std::function<void(base::Result<PastPage>)> done) const;

 private:
  store::Engine& engine_;
  const Resources& resources_;
};

}  // namespace berth::state
