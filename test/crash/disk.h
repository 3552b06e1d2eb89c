// A disk that forgets: what a power cut would leave of the files under a directory. libfaultfs.so
// (faultfs.cc) reports every change to it and asks it what fails and when.
//
// Files are changed for real, so that the program reads what it wrote. In addition the disk keeps a
// journal of every change that no sync has made durable, with the previous contents. At the cut it
// undoes them, newest first. Some of the oldest may survive, in order, and the first that does not
// may be torn: it is cut at any byte and, in write-ahead logs, followed by zeroes or garbage, or
// single sectors are missing. (RocksDB's other files cannot stand that, and a file system that
// orders data before sizes, as ext4 does, does not do it to them.)
//
// Contents become durable by fsync or fdatasync of the file. Names (create, rename, unlink, mkdir,
// link) become durable by fsync of their directory alone, which is all that POSIX promises. A sync
// that fails leaves its changes readable and never durable, as on Linux: a later sync does not
// write them.
//
// Threads: functions must be called with Lock() held, except Get and Watched.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"

namespace faultfs {

/// The moment at which the power is cut: at the count-th change or sync, before or after it
/// happens. If `kill` is set, only the program is killed. Its files stay as they are, but the next
/// power cut, under which another program may run, still undoes what this one did not sync.
struct CutPoint {
  enum class Kind : uint8_t { kChange, kSync };

  Kind kind = Kind::kChange;
  uint64_t count = 0;
  bool after = false;
  bool kill = false;
};

struct Faults {
  std::string root;    // Files below it are watched. Absolute, without links.
  std::string shadow;  // Keeps deleted files until the deletion is durable; same file system.
  std::string state;   // Keeps the journal from one program to the next.
  std::string log;     // A line is appended for each fault. Empty means no log.
  uint64_t seed = 1;
  std::optional<CutPoint> cut;
  std::set<uint64_t> failing_log_syncs;    // Syncs of write-ahead logs (*.log) that fail.
  std::set<uint64_t> failing_syncs;        // Syncs that fail, of all, directories included.
  std::optional<uint64_t> space;           // Bytes that may be written before the disk is full.
  uint64_t refusals_until_space_back = 0;  // 0 means that it stays full.

  /// Reads the environment: FAULTFS_DIR, FAULTFS_LOG, FAULTFS_SEED, FAULTFS_CUT="change:120:before"
  /// or "sync:33:after", with ":kill" after it to kill only the program,
  /// FAULTFS_FAIL_LOG_SYNC="5,60", FAULTFS_FAIL_SYNC="5,60", FAULTFS_ENOSPC_AFTER="bytes" or
  /// "bytes,refusals".
  static Faults FromEnvironment();
};

class Disk {
 public:
  explicit Disk(Faults faults);

  /// Returns the disk that the environment describes. It is never destroyed.
  static Disk& Get();

  std::unique_lock<std::mutex> Lock() { return std::unique_lock(mutex_); }

  /// Returns the absolute path if it is the root or below, else an empty text.
  std::string Watched(std::string_view path) const;

  /// What must be known about a file before it is opened.
  struct BeforeOpen {
    std::string path;
    bool existed = false;
    std::string truncated;  // Contents that O_TRUNC is about to remove.
  };
  BeforeOpen WillOpen(const std::string& path, int flags);
  void Opened(const BeforeOpen& before, int fd);

  /// Every change is announced, so that the power may be cut before it.
  void WillChange() { Count(CutPoint::Kind::kChange, &changes_, false); }
  void Changed() { Count(CutPoint::Kind::kChange, &changes_, true); }

  /// What a write will overwrite.
  struct BeforeWrite {
    uint64_t offset = 0;
    uint64_t size = 0;  // Size of the file.
    std::string old;
  };
  BeforeWrite WillWrite(int fd, uint64_t offset, uint64_t length);
  void Wrote(int fd, BeforeWrite before, uint64_t length);
  /// Returns how many of these bytes there is space for.
  uint64_t Allowed(uint64_t bytes);

  void Resized(int fd, uint64_t old_size, std::string old_tail);

  /// Returns whether this sync must fail. If so, what it should have written is lost.
  bool WillSync(int fd);
  void Synced(int fd);

  /// Moves a file away, so that it can be restored if its deletion is undone. Returns its hidden
  /// path.
  std::string Hide(const std::string& path);
  void Made(const std::string& path);
  void MadeDirectory(const std::string& path);
  void Deleted(const std::string& path, std::string hidden);
  void Renamed(const std::string& from, const std::string& to, std::string hidden);

  /// Called when the program ends by itself. Unsynced data may still be lost, as when it is killed.
  void Exit() const;

 private:
  using Id = std::pair<dev_t, ino_t>;

  struct File {
    int fd = -1;  // The disk's own descriptor.
    std::string path;
    uint64_t durable_size = 0;
    uint64_t kept_size = 0;  // At a cut: undoing changes must not make the file smaller than this.
  };

  struct Change {
    enum class Kind : uint8_t { kWrite, kResize, kMake, kMakeDirectory, kDelete, kRename };

    Kind kind = Kind::kWrite;
    Id file;
    uint64_t offset = 0;
    uint64_t length = 0;
    uint64_t old_size = 0;
    uint64_t new_size = 0;
    std::string old;  // Previous contents, from the offset on.
    bool lost = false;
    std::string path;
    std::string to;      // For kRename.
    std::string hidden;  // The file that was deleted or replaced.

    bool IsContent() const { return kind == Kind::kWrite || kind == Kind::kResize; }
    bool IsIn(const std::string& directory) const;
  };

  void Count(CutPoint::Kind kind, uint64_t* counter, bool after);
  [[noreturn]] void Cut();
  [[noreturn]] void Kill();
  void Save() const;
  void Load();
  void OpenLoaded();
  void TakeBack(const Change& change);
  /// Writes a part of what a write wrote (`bytes`) again after the write was undone.
  void Tear(const Change& change, std::string bytes);
  File& FileOf(int fd, const std::string& path = {});
  void Note(const std::string& line) const;

  std::mutex mutex_;
  const Faults faults_;
  berth::base::SeededRandom random_;
  std::map<Id, File> files_;
  std::deque<Change> journal_;
  uint64_t changes_ = 0;
  uint64_t syncs_ = 0;
  uint64_t log_syncs_ = 0;
  uint64_t written_ = 0;
  uint64_t refusals_ = 0;
  uint64_t hidden_ = 0;
};

}  // namespace faultfs
