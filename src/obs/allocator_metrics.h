// The metrics of KEP-3070 and KEP-3668: how many addresses and node ports are allocated and
// available, how many were allocated since the start, and how often that failed.
//
// The fill of a range is computed at each scrape and never maintained incrementally. So it is right
// from the first scrape on, whichever replica writes to the store. From then on every range has all
// of its series, with 0 where nothing has happened. A range that no longer exists has none.
//
// Dry-runs, values outside of every range and requests before the server is ready are not counted.
//
// Threads: any.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "obs/instruments.h"
#include "obs/metrics.h"

namespace berth::obs {

/// The one that chose the value: the user, or the allocator.
enum class AllocationScope : uint8_t { kStatic, kDynamic };
inline constexpr size_t kAllocationScopes = 2;

/// How full the ranges are. Each value counts once, also if several ranges contain it. *Available*
/// is what a Service could get now.
struct AllocatorFill {
  struct Range {
    std::string cidr = {};
    double allocated = 0;  // An IPv6 range has more addresses than a uint64_t can count.
    double available = 0;
  };
  std::vector<Range> cidrs = {};
  double allocated_ports = 0;
  double available_ports = 0;
};

class AllocatorMetrics {
 public:
  /// `fill` is called at each scrape.
  explicit AllocatorMetrics(std::function<AllocatorFill()> fill);
  AllocatorMetrics(const AllocatorMetrics&) = delete;
  AllocatorMetrics& operator=(const AllocatorMetrics&) = delete;

  /// `cidr` is written as in AllocatorFill.
  void CountAllocation(std::string_view cidr, AllocationScope scope) EXCLUDES(mutex_);
  void CountError(std::string_view cidr, AllocationScope scope) EXCLUDES(mutex_);
  /// `took` is the time of a successful allocation.
  void ObserveDuration(std::string_view cidr, std::chrono::nanoseconds took) EXCLUDES(mutex_);

  void CountPortAllocation(AllocationScope scope) { ports_.allocations[Index(scope)].Add(); }
  void CountPortError(AllocationScope scope) { ports_.errors[Index(scope)].Add(); }

  /// Adds the metrics to `metrics`, which must not be scraped after this object's end.
  void AddTo(Metrics& metrics);

 private:
  using ByScope = std::array<Counter, kAllocationScopes>;
  struct Counts {
    ByScope allocations = {};
    ByScope errors = {};
  };
  struct CidrCounts : Counts {
    CidrCounts();
    Histogram duration;
  };
  using Report = std::function<void(const std::string& cidr, const CidrCounts& counts)>;

  static size_t Index(AllocationScope scope) { return static_cast<size_t>(scope); }

  void AddAddresses(Metrics& metrics);
  void AddPorts(Metrics& metrics);
  CidrCounts& Of(std::string_view cidr) REQUIRES(mutex_);
  /// Calls `report` for each current range, and forgets the ranges that no longer exist.
  void ForEachCidr(const Report& report) EXCLUDES(mutex_);

  const std::function<AllocatorFill()> fill_;
  Counts ports_;

  base::Mutex mutex_;
  std::map<std::string, CidrCounts, std::less<>> cidrs_ GUARDED_BY(mutex_);
};

}  // namespace berth::obs
