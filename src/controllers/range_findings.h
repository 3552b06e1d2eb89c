// What the auditor says about each range, for the condition of the range. The auditor sets it after
// each pass, and the controller that keeps the status of ranges reads it.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "alloc/range_table.h"
#include "allocation/range_status.h"
#include "base/mutex.h"

namespace berth::controllers {

class RangeFindings {
 public:
  using RangeId = std::pair<alloc::RangeKind, std::string>;  // Kind and name.
  using Faults = std::map<RangeId, allocation::RangeFault>;

  /// Replaces what is known. Ranges that are not among `faults` have none.
  void Set(Faults faults) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    if (version_ > 0 && faults == faults_) return;
    faults_ = std::move(faults);
    ++version_;
  }
  /// Returns nullopt before the first Set, and an empty fault for a range that has none.
  std::optional<allocation::RangeFault> Of(const RangeId& range) const EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    if (version_ == 0) return std::nullopt;
    const auto found = faults_.find(range);
    return found == faults_.end() ? allocation::RangeFault() : found->second;
  }
  /// Returns a number that grows with each change.
  uint64_t Version() const EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    return version_;
  }

 private:
  mutable base::Mutex mutex_;
  Faults faults_ GUARDED_BY(mutex_);
  uint64_t version_ GUARDED_BY(mutex_) = 0;
};

}  // namespace berth::controllers
