// Records who held what when, in a folder of segment files that stays within a number of days and
// bytes.
//
//   auto history = History::Open({.directory = "/var/lib/observer/history"}, clock, log);
//   (*history)->BeginList();                   // A list of all Services ...
//   for (...) (*history)->Put(service);
//   (*history)->EndList(revision);             // ... and from here on every change:
//   (*history)->Put(service); (*history)->Remove("shop", "web", revision); (*history)->Seen(0);
//
// A list is compared with what was known before. What differs is recorded as a change between the
// last moment at which everything was known and now. A restart, a cut watch and a cron job are the
// same thing in this respect.
//
// What survives: Tick gives changes to the system every second and syncs the disk every five. So a
// killed process loses at most the last second, and a power cut the last seconds. At the next Open
// an unfinished write at the end is cut off, and the next list fills the gap. If the disk is full
// or fails, changes are lost, never mixed up: a new segment with all that is held begins as soon as
// writing is possible again, and answers name the gap.
//
// Segments: one ends when it is large or old. The next one begins with all that is held. When there
// are too many days or bytes, the oldest segments are removed.
//
// Threads: any. Readers (`history_reader.h`) read the files and need no lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "history/directory.h"
#include "history/holders.h"
#include "history/segment_writer.h"
#include "history/types.h"

namespace berth::history {

struct HistoryOptions {
  std::string directory = {};
  std::chrono::seconds keep = std::chrono::days(90);
  uint64_t keep_bytes = uint64_t{1} << 30;
  /// The smallest size at which a segment ends. Tests make it small.
  uint64_t segment_bytes = uint64_t{4} << 20;
};

/// Figures for metrics.
struct HistoryStats {
  uint64_t changes = 0;  ///< Recorded by this process.
  uint64_t lists = 0;
  uint64_t bytes = 0;  ///< Of all segments.
  uint64_t segments = 0;
  uint64_t services = 0;                    ///< That hold a value now.
  uint64_t values = 0;                      ///< That they hold.
  bool listed = false;                      ///< A list has been recorded since the start.
  std::optional<base::WallTime> seen = {};  ///< Up to when all changes are known.
  std::string trouble = {};  ///< Why nothing can be written now; empty if all is well.
};

class History {
 public:
  /// Opens a history or begins a new one. Fails with kConflict if another process records into the
  /// folder, and with kInvalid if the folder cannot be used.
  static base::Result<std::unique_ptr<History>> Open(HistoryOptions options,
                                                     const base::Clock& clock, base::Logger& log);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  /// Begins a list of all Services. Until EndList every Put belongs to it.
  void BeginList() EXCLUDES(mutex_);
  /// Ends the list: Services that it did not show hold nothing.
  void EndList(int64_t revision) EXCLUDES(mutex_);
  /// Forgets that a list has begun, because it could not be read to its end.
  void AbandonList() EXCLUDES(mutex_);

  /// Takes note of a Service as it is now.
  void Put(const ServiceState& service) EXCLUDES(mutex_);
  void Remove(std::string_view name_space, std::string_view name, int64_t revision)
      EXCLUDES(mutex_);
  /// Takes note that every change up to now is known. To be called every few seconds while that is
  /// so. It writes little.
  void Seen(int64_t revision) EXCLUDES(mutex_);
  /// Takes note that changes come late until the next Seen, but none is missed. They happened at
  /// some time since the last Seen.
  void Late() EXCLUDES(mutex_);
  /// Takes note that changes may be missed from now on, until the next list ends.
  void Lost() EXCLUDES(mutex_);
  void Count(const std::vector<RangeCount>& counts) EXCLUDES(mutex_);

  /// Writes and syncs what is due. To be called about every second.
  void Tick() EXCLUDES(mutex_);
  /// Gives everything to the system, so that readers see it.
  base::Result<void> Flush() EXCLUDES(mutex_);
  /// Makes sure that everything is on the disk. Fails if something could not be recorded.
  base::Result<void> Sync() EXCLUDES(mutex_);

  /// Visits the Services that hold something, in the order of their names.
  using Visit = std::function<void(const Owner& owner, std::span<const Hold> holds)>;
  void ForEach(const Visit& visit) const EXCLUDES(mutex_);

  HistoryStats stats() const EXCLUDES(mutex_);
  const std::string& directory() const { return options_.directory; }

 private:
  History(HistoryOptions options, const base::Clock& clock, base::Logger& log, base::Fd lock);

  base::Result<void> Load() EXCLUDES(mutex_);
  bool LoadSegment(const SegmentFile& file, bool is_last) REQUIRES(mutex_);
  void Replay(const Entry& entry, const Owner& owner, uint64_t segment) REQUIRES(mutex_);
  base::Result<void> BeginSegment() REQUIRES(mutex_);
  base::Result<void> WriteCheckpoint(SegmentWriter& writer) REQUIRES(mutex_);
  void DropOldSegments() REQUIRES(mutex_);
  void EndSegmentIfDue() REQUIRES(mutex_);
  uint64_t SegmentLimit() const REQUIRES(mutex_);

  Millis Now() const REQUIRES(mutex_);
  void NoteRevision(int64_t revision) REQUIRES(mutex_);
  bool IsComplete() const REQUIRES(mutex_) { return listed_ && !listing_; }
  /// Returns the entry of a change that is noticed now.
  Entry ChangeNow(EntryKind kind, const Held& held, std::optional<base::WallTime> created)
      REQUIRES(mutex_);
  void Append(Entry entry, const Owner& owner, Holder& holder) REQUIRES(mutex_);
  void Take(const Held& held, const ServiceState& service, Holder& holder) REQUIRES(mutex_);
  /// Releases all values for which `gone` is true.
  void Release(const Owner& owner, Holder& holder, const std::function<bool(const Hold&)>& gone)
      REQUIRES(mutex_);
  void ReleaseAll(const Owner& owner, Holder& holder) REQUIRES(mutex_);
  /// Records that everything up to a time is known.
  void Mark(EntryKind kind, Millis time) REQUIRES(mutex_);
  /// Records up to when everything is known, if that is not recorded yet.
  void MarkSeen() REQUIRES(mutex_);
  /// Gives the segment up after an error.
  void Check(base::Result<void> written) REQUIRES(mutex_);

  const HistoryOptions options_;
  const base::Clock& clock_;
  base::Logger& log_;
  const base::Fd lock_;

  mutable base::Mutex mutex_;
  Holders holders_ GUARDED_BY(mutex_);
  std::unique_ptr<SegmentWriter> writer_ GUARDED_BY(mutex_);  ///< Null after an error.
  uint64_t next_number_ GUARDED_BY(mutex_) = 1;
  uint64_t checkpoint_bytes_ GUARDED_BY(mutex_) = 0;
  Millis segment_start_ GUARDED_BY(mutex_) = 0;
  uint64_t other_bytes_ GUARDED_BY(mutex_) = 0;  ///< Of the segments before this one.
  uint64_t other_segments_ GUARDED_BY(mutex_) = 0;

  Millis time_ GUARDED_BY(mutex_) = 0;  ///< Of the last entry. Times never go back.
  Millis marked_ GUARDED_BY(mutex_) = 0;
  std::optional<Millis> seen_ GUARDED_BY(mutex_);  ///< Up to when all changes are known.
  int64_t revision_ GUARDED_BY(mutex_) = 0;
  bool listed_ GUARDED_BY(mutex_) = false;  ///< Nothing was missed since the last list.
  bool ever_listed_ GUARDED_BY(mutex_) = false;
  bool listing_ GUARDED_BY(mutex_) = false;
  bool late_ GUARDED_BY(mutex_) = false;  ///< Changes come late.
  uint32_t list_ GUARDED_BY(mutex_) = 0;
  base::SteadyTime synced_ GUARDED_BY(mutex_) = {};
  base::SteadyTime retry_ GUARDED_BY(mutex_) = {};
  uint64_t changes_ GUARDED_BY(mutex_) = 0;
  uint64_t lists_ GUARDED_BY(mutex_) = 0;
  uint64_t values_ GUARDED_BY(mutex_) = 0;
  std::string trouble_ GUARDED_BY(mutex_);
};

}  // namespace berth::history
