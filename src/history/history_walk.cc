#include "history/history_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace berth::history {
namespace {

using base::Reason;
using base::Result;

class Walk {
 public:
  explicit Walk(WalkVisitor& visitor) : visitor_(visitor) {}

  std::optional<Millis> seen() const { return seen_; }

  /// Reads one segment. Returns false if the walk is over.
  bool Read(const SegmentFile& file) {
    auto reader = SegmentReader::OpenFile(file.path, file.number);
    if (!reader) {
      // One that is gone was dropped with all before it.
      if (reader.error().reason != Reason::kNotFound) NoteDamage(file);
      return true;
    }
    visitor_.OnCheckpoint();
    bool checked = false;
    Entry entry;
    while (reader->Next(entry)) {
      if (entry.kind == EntryKind::kChecked) {
        checked = true;
        Continue(reader->header());
        continue;
      }
      if (checked) NoteTime(entry);
      visitor_.OnEntry(entry, *reader);
      if (checked && visitor_.IsDone(seen_)) return false;
    }
    if (reader->damaged()) NoteDamage(file);
    return true;
  }

 private:
  void NoteDamage(const SegmentFile& file) {
    damage_ = fmt::format("{} is damaged", std::filesystem::path(file.path).filename().string());
  }

  /// Takes over from the segment before, whose end may be missing.
  void Continue(const SegmentHeader& header) {
    if (seen_ && header.seen && *header.seen > *seen_) {
      visitor_.OnGap(*seen_, *header.seen, damage_.empty() ? "nothing could be recorded" : damage_);
    }
    damage_.clear();
    visitor_.OnChecked(header, seen_);
    if (header.seen) seen_ = std::max(seen_.value_or(0), *header.seen);
  }

  void NoteTime(const Entry& entry) {
    if (!ProvesSeen(entry)) return;
    if (entry.kind == EntryKind::kListed && seen_ && entry.time > *seen_) {
      visitor_.OnGap(*seen_, entry.time, "the observer did not follow the cluster");
    }
    seen_ = std::max(seen_.value_or(0), entry.time);
  }

  WalkVisitor& visitor_;
  std::optional<Millis> seen_;
  std::string damage_;
};

/// Returns the position of the last segment that began at `from` or before, or 0.
size_t FirstToRead(const std::vector<SegmentFile>& files, Millis from) {
  for (size_t i = files.size(); i-- > 1;) {
    const auto reader = SegmentReader::OpenFile(files[i].path, files[i].number);
    if (!reader) continue;
    const SegmentHeader& header = reader->header();
    // What was held at `from` must be known from the checkpoint on.
    if (header.seen && *header.seen <= from) return i;
  }
  return 0;
}

}  // namespace

Result<std::optional<Millis>> WalkHistory(const std::string& directory, std::optional<Millis> from,
                                          WalkVisitor& visitor) {
  const auto files = ListSegments(directory);
  if (!files) return tl::unexpected(files.error());
  Walk walk(visitor);
  for (size_t i = from ? FirstToRead(*files, *from) : 0; i < files->size(); ++i) {
    if (!walk.Read((*files)[i])) break;
  }
  return walk.seen();
}

}  // namespace berth::history
