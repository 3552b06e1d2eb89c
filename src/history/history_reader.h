// Answers questions about the past from the files of a history. Reads the segments that a question
// needs, one after the other, and keeps only what matches. It may be used while an observer records
// into the folder, by the same process or by another one.
//
// What is not known is said: an answer has the times that no observer saw, and each moment has
// bounds. A segment that is damaged is read up to the damage, and the gap until the next one is
// named.
//
// Threads: any. Every call reads the files anew.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/layout.h"
#include "alloc/pool_id.h"
#include "base/clock.h"
#include "base/result.h"
#include "history/types.h"

namespace berth::history {

/// The spans of a value or of a Service, in the order in which they began.
struct Past {
  std::vector<Span> spans = {};
  std::vector<Gap> gaps = {};
  std::optional<base::WallTime> begin = {};  ///< Since when changes are known; nullopt if never.
  std::optional<base::WallTime> end = {};    ///< Until when.
  bool shortened = false;                    ///< Older spans were left out.
};

enum class Certainty : uint8_t {
  kCertain,
  kBeforeAndAfter,  ///< Held before and after, and probably at that time too.
  kPossible,        ///< The moment lies between the bounds of a change, or after the last look.
};

struct Holding {
  Span span = {};
  Certainty certainty = Certainty::kCertain;
};

struct HeldAt {
  std::vector<Holding> holdings = {};
  /// False if others may have held the value too: in a gap, or outside of what was observed.
  bool complete = true;
  std::string note = {};  ///< Why it is not complete, a sentence without a full stop.
};

/// How many values of an interval were held at a moment. Nullopt where that is not known.
struct UsePoint {
  base::WallTime time = {};
  std::optional<uint64_t> held = {};

  bool operator==(const UsePoint&) const = default;
};

struct CountPoint {
  base::WallTime time = {};
  RangeCount count = {};
};

class HistoryReader {
 public:
  static constexpr size_t kMaxSpans = 1000;
  static constexpr size_t kMaxPoints = 10'000;

  /// Opens the history of a folder. Fails with kNotFound if the folder has no history.
  static base::Result<HistoryReader> Open(const std::string& directory);

  /// Returns who held the value at that time. Reads one segment, or a few if some are damaged.
  base::Result<HeldAt> WhoHeld(const alloc::PoolValue& value, base::WallTime time) const;

  /// Returns what a Service held at that time, in the same way.
  base::Result<HeldAt> WhatHeld(std::string_view name_space, std::string_view name,
                                base::WallTime time) const;

  /// Return the newest spans, at most `max`. They read all segments.
  base::Result<Past> HistoryOf(const alloc::PoolValue& value, size_t max = kMaxSpans) const;
  base::Result<Past> HistoryOfService(std::string_view name_space, std::string_view name,
                                      size_t max = kMaxSpans) const;

  /// Returns how many values of an interval were held at `from`, `from + step`, ... up to `to`, at
  /// most kMaxPoints of them.
  base::Result<std::vector<UsePoint>> UsePoints(alloc::PoolId pool, const alloc::Interval& values,
                                                base::WallTime from, base::WallTime to,
                                                std::chrono::seconds step) const;

  /// Returns the same at times that were seen, so every point has a count. For a time in a gap it
  /// has the last look before it, once, and the last point is that of the last look up to `to`.
  base::Result<std::vector<UsePoint>> UseAtLooks(alloc::PoolId pool, const alloc::Interval& values,
                                                 base::WallTime from, base::WallTime to,
                                                 std::chrono::seconds step) const;

  /// Returns the recorded counts of a range, the newest kMaxPoints of them.
  base::Result<std::vector<CountPoint>> CountsOf(std::string_view range, base::WallTime from,
                                                 base::WallTime to) const;

 private:
  explicit HistoryReader(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;
};

}  // namespace berth::history
