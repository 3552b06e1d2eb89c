// Walks over the segments of a history in order, and finds the gaps between and inside of them. All
// questions of HistoryReader are visitors of this walk.
//
// Threads: one at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "history/directory.h"
#include "history/entry.h"
#include "history/segment_reader.h"

namespace berth::history {

class WalkVisitor {
 public:
  virtual ~WalkVisitor() = default;

  /// A segment begins. The entries of its checkpoint follow. Everything that was known before is
  /// replaced by them.
  virtual void OnCheckpoint() {}
  /// The checkpoint is complete. It shows what was held at `header.seen`. `before` is up to when
  /// the segments before it are known.
  virtual void OnChecked(const SegmentHeader& header, std::optional<Millis> before) = 0;
  /// An entry. Those of a damaged checkpoint are visited too, but OnChecked does not follow.
  virtual void OnEntry(const Entry& entry, const SegmentReader& segment) = 0;
  /// What happened between these times is not known. Called before the entry that ends the gap.
  virtual void OnGap(Millis from, Millis to, const std::string& why) = 0;
  /// Returns whether the walk may end. `seen` is up to when changes are known.
  virtual bool IsDone(std::optional<Millis> seen) const = 0;
};

/// Walks over all segments, or from the one that was written at `from` on. Returns up to when
/// changes are known.
base::Result<std::optional<Millis>> WalkHistory(const std::string& directory,
                                                std::optional<Millis> from, WalkVisitor& visitor);

}  // namespace berth::history
