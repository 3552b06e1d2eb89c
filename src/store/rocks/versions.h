// Reads versions of keys from an open database: one by its revision, or a range of keys as they
// were at some revision.
//
// Threads: the functions may be called from any thread. A StateCursor belongs to one thread at a
// time and must not outlive its database.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/snapshot.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "store/rocks/database.h"
#include "store/rocks/rocks_layout.h"

namespace berth::store::rocks {

inline std::string_view ViewOf(const rocksdb::Slice& slice) { return slice.ToStringView(); }

struct StoredVersion {
  Op op = Op::kPut;
  int64_t deadline = 0;
  std::string value;
};

/// Reads the version of `key` at exactly this revision. Returns NotFound if it does not exist.
/// `snapshot` may be null.
rocksdb::Status ReadVersion(const Database& database, std::string_view key, Revision revision,
                            const rocksdb::Snapshot* snapshot, StoredVersion& version);

/// Walks the keys that existed right after revision `at`, in order.
class StateCursor {
 public:
  struct Range {
    std::string_view prefix;
    std::string_view after;  // Begins after this key.
    Revision at;
    bool whole_store = false;  // Reads ahead and does not fill the cache.
  };
  StateCursor(const Database& database, const Range& range);

  /// Returns false at the end and after an error.
  bool Valid() const { return valid_; }
  rocksdb::Status Error() const { return error_.ok() ? rows_->status() : error_; }

  // The key at the cursor, the revision of its put, and its version. Valid until Next.
  std::string_view Key() const { return key_; }
  Revision LastPut() const { return revision_; }
  const Version& Current() const { return version_; }

  void Next();

 private:
  void FindExisting();
  void Skip();

  const Revision at_;
  const std::string end_;  // The first key after the prefix. Empty if no key can follow it.
  rocksdb::Slice end_slice_;
  std::unique_ptr<rocksdb::Iterator> rows_;
  rocksdb::Status error_;

  bool valid_ = false;
  std::string key_;       // The key whose versions are being passed.
  bool settled_ = false;  // Its version at `at_` is known, so its older versions do not matter.
  int passed_ = 0;        // Its rows that were passed since the last seek.
  Revision revision_;
  Version version_;
};

}  // namespace berth::store::rocks
