// The metrics of KEP-3070 and KEP-3668: how many addresses and node ports are allocated and left,
// how many were allocated since the start, and how often that failed.
//
// How full a range is, is asked at each scrape and never counted along: so it is right from the
// first scrape on, and whoever writes to the store. Every range has all of its series from then on,
// with 0 where nothing has happened; a range that is gone has none.
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

/// Who chose the value: the user, or the allocator.
enum class AllocationScope : uint8_t { kStatic, kDynamic };
inline constexpr size_t kAllocationScopes = 2;

/// How full the ranges are.
struct AllocatorFill {
  struct Range {
    std::string cidr = {};
    double allocated = 0;  // An IPv6 range has more addresses than an integer of ours can count.
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

  /// `cidr` as in AllocatorFill.
  void CountAllocation(std::string_view cidr, AllocationScope scope) EXCLUDES(mutex_);
  void CountError(std::string_view cidr, AllocationScope scope) EXCLUDES(mutex_);
  /// Of a successful allocation.
  void ObserveDuration(std::string_view cidr, std::chrono::nanoseconds took) EXCLUDES(mutex_);

  void CountPortAllocation(AllocationScope scope) { ports_.allocations[Index(scope)].Add(); }
  void CountPortError(AllocationScope scope) { ports_.errors[Index(scope)].Add(); }

  /// It must live as long as `metrics` are asked.
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
  /// Calls it for each range there is, and forgets those that are gone.
  void ForEachCidr(const Report& report) EXCLUDES(mutex_);

  const std::function<AllocatorFill()> fill_;
  Counts ports_;

  base::Mutex mutex_;
  std::map<std::string, CidrCounts, std::less<>> cidrs_ GUARDED_BY(mutex_);
};

}  // namespace berth::obs
