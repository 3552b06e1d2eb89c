// What the auditor of stored addresses and ports has looked at and found (controllers/auditor.h).
// The audit log of requests is something else (obs/audit_log.h).
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "obs/instruments.h"
#include "obs/metrics.h"

namespace berth::obs {

class AuditorMetrics {
 public:
  /// `kinds` are the names of findings. They and the kinds of repairs are the values of labels.
  AuditorMetrics(std::vector<std::string> kinds, std::vector<std::string> repairs);

  /// What one pass has looked at and found.
  struct Pass {
    int64_t revision = 0;
    bool clean = false;
    double seconds = 0;      // From its begin to its end, with its pauses.
    double cpu_seconds = 0;  // Of one core.
    double finished_at = 0;  // In seconds since 1970.
    std::vector<std::pair<std::string, uint64_t>> checked = {};  // By what was checked.
    std::vector<uint64_t> findings = {};                         // In the order of the kinds.
  };
  void Set(Pass pass) EXCLUDES(mutex_);
  /// Counts a repair. `kind` is its place among the kinds of repairs.
  void CountRepair(size_t kind) { repairs_[kind].Add(); }
  uint64_t Repairs(size_t kind) const { return repairs_[kind].Value(); }

  /// Adds the metrics to `metrics`, which must not be scraped after this object's end.
  void AddTo(Metrics& metrics);

 private:
  Pass Last() const EXCLUDES(mutex_);
  void AddGauge(Metrics& metrics, const std::string& name, const std::string& help,
                double (*read)(const AuditorMetrics& from, const Pass& last));

  const std::vector<std::string> kinds_;
  const std::vector<std::string> repair_kinds_;
  Counter passes_;
  std::deque<Counter> repairs_;  // In the order of their kinds.

  mutable base::Mutex mutex_;
  Pass last_ GUARDED_BY(mutex_);
  int64_t last_clean_ GUARDED_BY(mutex_) = 0;
};

}  // namespace berth::obs
