#include "history/history_reader.h"

#include <absl/container/btree_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "codec/timestamp.h"
#include "history/directory.h"
#include "history/entry.h"
#include "history/history_walk.h"

namespace berth::history {
namespace {

using base::Reason;
using base::Result;
using base::WallTime;

constexpr size_t kMaxGaps = 1000;

Moment MomentOf(const Entry& entry) {
  Moment moment{.latest = TimeOf(entry.time)};
  if (entry.earliest) moment.earliest = TimeOf(*entry.earliest);
  return moment;
}

/// Collects the spans of one value or of one Service.
class SpanVisitor final : public WalkVisitor {
 public:
  using Matches = std::function<bool(const Entry&, const SegmentReader&)>;

  SpanVisitor(Matches matches, size_t max) : matches_(std::move(matches)), max_(max) {}

  /// Ends the walk once all changes up to this time are known.
  void StopAfter(Millis time) { stop_after_ = time; }

  void OnCheckpoint() override {
    checkpoint_.clear();
    checked_ = false;
  }

  void OnEntry(const Entry& entry, const SegmentReader& segment) override {
    if (entry.kind == EntryKind::kListed && !past_.begin) past_.begin = TimeOf(entry.time);
    const bool of_value = entry.kind == EntryKind::kHeld || entry.kind == EntryKind::kTaken ||
                          entry.kind == EntryKind::kReleased;
    if (!of_value || !matches_(entry, segment)) return;
    Span span{.held = entry.held, .owner = segment.OwnerOf(entry.owner), .from = MomentOf(entry)};
    if (entry.kind == EntryKind::kHeld) {
      checkpoint_.push_back(std::move(span));
    } else if (!checked_) {
      return;
    } else if (entry.kind == EntryKind::kTaken) {
      open_.push_back(std::move(span));
    } else {
      Close(span, MomentOf(entry));
    }
  }

  void OnChecked(const SegmentHeader& header, std::optional<Millis> before) override {
    checked_ = true;
    if (header.seen && !past_.begin) past_.begin = TimeOf(*header.seen);
    for (Span& span : open_) {
      const auto held = std::ranges::find_if(checkpoint_, [&span](const Span& each) {
        return IsSame(each, span) && each.from == span.from;
      });
      if (held != checkpoint_.end()) continue;
      // The release is in a part that cannot be read.
      Moment end{.latest = TimeOf(header.seen.value_or(header.start))};
      if (before) end.earliest = TimeOf(*before);
      End(std::move(span), end);
    }
    open_ = std::exchange(checkpoint_, {});
  }

  void OnGap(Millis from, Millis to, const std::string& why) override {
    if (past_.gaps.size() == kMaxGaps) past_.gaps.erase(past_.gaps.begin());
    past_.gaps.push_back({.from = TimeOf(from), .to = TimeOf(to), .why = why});
  }

  bool IsDone(std::optional<Millis> seen) const override {
    return stop_after_ && seen && *seen > *stop_after_;
  }

  Past Finish(std::optional<Millis> seen) && {
    for (Span& span : open_) Keep(std::move(span));
    past_.spans.assign(std::make_move_iterator(ended_.begin()),
                       std::make_move_iterator(ended_.end()));
    std::ranges::stable_sort(past_.spans, {}, [](const Span& span) { return span.from.latest; });
    if (seen) past_.end = TimeOf(*seen);
    return std::move(past_);
  }

 private:
  static bool IsSame(const Span& a, const Span& b) {
    return a.held.value == b.held.value && a.owner == b.owner;
  }

  void Close(const Span& released, const Moment& when) {
    const auto open =
        std::ranges::find_if(open_, [&](const Span& span) { return IsSame(span, released); });
    if (open == open_.end()) return;
    End(std::move(*open), when);
    open_.erase(open);
  }

  void End(Span span, const Moment& when) {
    span.to = when;
    Keep(std::move(span));
  }

  void Keep(Span span) {
    ended_.push_back(std::move(span));
    if (ended_.size() <= max_) return;
    ended_.pop_front();
    past_.shortened = true;
  }

  const Matches matches_;
  const size_t max_;
  std::optional<Millis> stop_after_;
  bool checked_ = false;
  std::vector<Span> checkpoint_;
  std::vector<Span> open_;
  std::deque<Span> ended_;
  Past past_;
};

SpanVisitor::Matches OfValue(const alloc::PoolValue& value) {
  return [value](const Entry& entry, const SegmentReader&) { return entry.held.value == value; };
}

SpanVisitor::Matches OfService(std::string_view name_space, std::string_view name) {
  return [name_space, name](const Entry& entry, const SegmentReader& segment) {
    const Owner owner = segment.OwnerOf(entry.owner);
    return owner.name == name && owner.name_space == name_space;
  };
}

/// Returns the gap that a time lies in, or null.
const Gap* GapAt(const std::vector<Gap>& gaps, WallTime time) {
  const auto gap = std::ranges::find_if(
      gaps, [time](const Gap& each) { return each.from < time && time < each.to; });
  return gap == gaps.end() ? nullptr : &*gap;
}

std::optional<Certainty> CertaintyOf(const Span& span, const Gap* gap, const Past& past,
                                     WallTime time) {
  const bool begun = !span.from.earliest || *span.from.earliest <= time || span.from.latest <= time;
  if (!begun || (span.to && span.to->latest <= time)) return std::nullopt;
  const bool surely =
      span.from.latest <= time && (!span.to || (span.to->earliest && time < *span.to->earliest));
  if (!surely) return Certainty::kPossible;
  // Before the history begins there may have been gaps that no file tells of any more.
  if (gap != nullptr || !past.begin || time < *past.begin) return Certainty::kBeforeAndAfter;
  if (past.end && time > *past.end) return Certainty::kPossible;
  return Certainty::kCertain;
}

std::string WhyIncomplete(const Gap* gap, const Past& past, WallTime time) {
  if (gap != nullptr) {
    return fmt::format("from {} to {} {}, so values may have changed hands unseen",
                       codec::FormatTime(gap->from), codec::FormatTime(gap->to), gap->why);
  }
  if (!past.begin || !past.end) return "nothing has been observed yet";
  if (time < *past.begin) {
    return fmt::format("the history begins at {}", codec::FormatTime(*past.begin));
  }
  if (time > *past.end) {
    return fmt::format("the cluster was last seen at {}", codec::FormatTime(*past.end));
  }
  return {};
}

Result<HeldAt> AskAt(const std::string& directory, SpanVisitor::Matches matches, WallTime time) {
  SpanVisitor visitor(std::move(matches), HistoryReader::kMaxSpans);
  visitor.StopAfter(MillisOf(time));
  const auto seen = WalkHistory(directory, MillisOf(time), visitor);
  if (!seen) return tl::unexpected(seen.error());
  const Past past = std::move(visitor).Finish(*seen);
  const Gap* gap = GapAt(past.gaps, time);
  HeldAt held;
  for (const Span& span : past.spans) {
    if (const auto certainty = CertaintyOf(span, gap, past, time)) {
      held.holdings.push_back({.span = span, .certainty = *certainty});
    }
  }
  held.note = WhyIncomplete(gap, past, time);
  held.complete = held.note.empty();
  return held;
}

/// What to count for a time that was not seen.
enum class Unseen : uint8_t { kUnknown, kLastLook };

/// Counts the values of an interval at regular times.
class UseVisitor final : public WalkVisitor {
 public:
  UseVisitor(alloc::PoolId pool, const alloc::Interval& values, Unseen unseen, Millis from,
             Millis to, Millis step)
      : pool_(pool), values_(values), unseen_(unseen), next_(from), to_(to), step_(step) {}

  void OnCheckpoint() override {
    LeaveSeen();
    held_.clear();
  }
  void OnChecked(const SegmentHeader& header, std::optional<Millis> /*before*/) override {
    if (!header.seen) return;
    known_ = true;
    before_gap_.reset();
    seen_ = std::max(seen_, *header.seen);
  }
  void OnEntry(const Entry& entry, const SegmentReader& /*segment*/) override {
    if (ProvesSeen(entry)) {
      AddPoints(entry.time, known_);
      if (unseen_ == Unseen::kLastLook && entry.time > to_) AddLastLook();
      seen_ = std::max(seen_, entry.time);
      known_ = true;
      before_gap_.reset();
    } else if (entry.kind == EntryKind::kTaken || entry.kind == EntryKind::kReleased) {
      // It happened in a gap, whose end is not known yet.
      LeaveSeen();
    }
    if (entry.kind == EntryKind::kSeen || entry.kind == EntryKind::kListed ||
        entry.kind == EntryKind::kCounts) {
      return;
    }
    if (entry.held.value.pool != pool_ || !values_.Contains(entry.held.value.value)) return;
    const base::U128 value = entry.held.value.value;
    if (entry.kind == EntryKind::kHeld || entry.kind == EntryKind::kTaken) {
      ++held_[value];
    } else if (entry.kind == EntryKind::kReleased) {
      const auto found = held_.find(value);
      if (found != held_.end() && --found->second == 0) held_.erase(found);
    }
  }
  void OnGap(Millis from, Millis to, const std::string& /*why*/) override {
    AddPoints(from + 1, known_);
    AddPoints(to, false);
  }
  bool IsDone(std::optional<Millis> /*seen*/) const override {
    return Full() || (next_ > to_ && (unseen_ == Unseen::kUnknown || seen_ > to_));
  }

  std::vector<UsePoint> Finish(std::optional<Millis> seen) && {
    if (seen) AddPoints(*seen + 1, known_);
    AddPoints(to_ + 1, false);
    if (unseen_ == Unseen::kLastLook) AddLastLook();
    return std::move(points_);
  }

 private:
  /// Keeps what was held at the last look, before the changes of a gap are counted.
  void LeaveSeen() {
    AddPoints(seen_ + 1, known_);
    if (!before_gap_) before_gap_ = held_.size();
  }

  bool Full() const { return points_.size() >= HistoryReader::kMaxPoints; }

  /// Adds the points before a time, at which nothing has changed since the last one.
  void AddPoints(Millis time, bool known) {
    for (; next_ < time && next_ <= to_ && !Full(); next_ += step_) {
      if (!known && unseen_ == Unseen::kLastLook) {
        AddLastLook();
        continue;
      }
      UsePoint point{.time = TimeOf(next_)};
      if (known) point.held = held_.size();
      points_.push_back(point);
    }
  }

  /// Adds the point of the last look, unless the last point is as new.
  void AddLastLook() {
    const WallTime time = TimeOf(seen_);
    if (!known_ || seen_ > to_ || Full()) return;
    if (!points_.empty() && points_.back().time >= time) return;
    points_.push_back({.time = time, .held = before_gap_.value_or(held_.size())});
  }

  const alloc::PoolId pool_;
  const alloc::Interval values_;
  const Unseen unseen_;
  Millis next_;
  const Millis to_;
  const Millis step_;
  Millis seen_ = 0;
  bool known_ = false;
  absl::btree_map<base::U128, uint32_t> held_;
  std::optional<uint64_t> before_gap_;  // Held at `seen_`, if changes of a gap came since.
  std::vector<UsePoint> points_;
};

Result<std::vector<UsePoint>> WalkUse(const std::string& directory, UseVisitor visitor,
                                      WallTime from) {
  const auto seen = WalkHistory(directory, MillisOf(from), visitor);
  if (!seen) return tl::unexpected(seen.error());
  return std::move(visitor).Finish(*seen);
}

class CountVisitor final : public WalkVisitor {
 public:
  CountVisitor(std::string_view range, Millis from, Millis to)
      : range_(range), from_(from), to_(to) {}

  void OnChecked(const SegmentHeader& /*header*/, std::optional<Millis> /*before*/) override {}
  void OnEntry(const Entry& entry, const SegmentReader& /*segment*/) override {
    last_ = entry.kind == EntryKind::kHeld ? last_ : entry.time;
    if (entry.kind != EntryKind::kCounts || entry.counts.range != range_) return;
    if (entry.time < from_ || entry.time > to_) return;
    points_.push_back({.time = TimeOf(entry.time), .count = entry.counts});
    if (points_.size() > HistoryReader::kMaxPoints) points_.pop_front();
  }
  void OnGap(Millis /*from*/, Millis /*to*/, const std::string& /*why*/) override {}
  bool IsDone(std::optional<Millis> /*seen*/) const override { return last_ > to_; }

  std::vector<CountPoint> Finish() && { return {points_.begin(), points_.end()}; }

 private:
  const std::string range_;
  const Millis from_;
  const Millis to_;
  Millis last_ = 0;
  std::deque<CountPoint> points_;
};

}  // namespace

Result<HistoryReader> HistoryReader::Open(const std::string& directory) {
  const auto files = ListSegments(directory);
  if (!files && files.error().reason != Reason::kNotFound) return tl::unexpected(files.error());
  if (!files || files->empty()) {
    return base::Fail(
        Reason::kNotFound,
        fmt::format("{}: there is no history here; berth observe records one", directory));
  }
  return HistoryReader(directory);
}

Result<HeldAt> HistoryReader::WhoHeld(const alloc::PoolValue& value, WallTime time) const {
  return AskAt(directory_, OfValue(value), time);
}

Result<HeldAt> HistoryReader::WhatHeld(std::string_view name_space, std::string_view name,
                                       WallTime time) const {
  return AskAt(directory_, OfService(name_space, name), time);
}
Result<Past> HistoryReader::HistoryOf(const alloc::PoolValue& value, size_t max) const {
  SpanVisitor visitor(OfValue(value), max);
  const auto seen = WalkHistory(directory_, std::nullopt, visitor);
  if (!seen) return tl::unexpected(seen.error());
  return std::move(visitor).Finish(*seen);
}

Result<Past> HistoryReader::HistoryOfService(std::string_view name_space, std::string_view name,
                                             size_t max) const {
  SpanVisitor visitor(OfService(name_space, name), max);
  const auto seen = WalkHistory(directory_, std::nullopt, visitor);
  if (!seen) return tl::unexpected(seen.error());
  return std::move(visitor).Finish(*seen);
}

Result<std::vector<UsePoint>> HistoryReader::UsePoints(alloc::PoolId pool,
                                                       const alloc::Interval& values, WallTime from,
                                                       WallTime to,
                                                       std::chrono::seconds step) const {
  if (step.count() <= 0) return base::Fail(Reason::kInvalid, "the step must be positive");
  return WalkUse(directory_,
                 UseVisitor(pool, values, Unseen::kUnknown, MillisOf(from), MillisOf(to),
                            std::chrono::milliseconds(step).count()),
                 from);
}

Result<std::vector<UsePoint>> HistoryReader::UseAtLooks(alloc::PoolId pool,
                                                        const alloc::Interval& values,
                                                        WallTime from, WallTime to,
                                                        std::chrono::seconds step) const {
  if (step.count() <= 0) return base::Fail(Reason::kInvalid, "the step must be positive");
  return WalkUse(directory_,
                 UseVisitor(pool, values, Unseen::kLastLook, MillisOf(from), MillisOf(to),
                            std::chrono::milliseconds(step).count()),
                 from);
}

Result<std::vector<CountPoint>> HistoryReader::CountsOf(std::string_view range, WallTime from,
                                                        WallTime to) const {
  CountVisitor visitor(range, MillisOf(from), MillisOf(to));
  const auto seen = WalkHistory(directory_, MillisOf(from), visitor);
  if (!seen) return tl::unexpected(seen.error());
  return std::move(visitor).Finish();
}

}  // namespace berth::history
