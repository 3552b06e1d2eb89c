// What the repair loops of bitmap mode have found, as Kubernetes counts it.
//
// Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "obs/instruments.h"
#include "obs/metrics.h"

namespace berth::obs {

class RepairMetrics {
 public:
  /// One of the two loops.
  struct Loop {
    /// `type` is one of kTypes; others are not counted.
    void Count(std::string_view type);

    Counter failed = {};  // Passes.
    static constexpr std::array<std::string_view, 7> kTypes = {
        "leak", "repair", "full", "outOfRange", "duplicate", "unknown", "invalid"};
    std::array<Counter, kTypes.size()> found = {};
  };

  Loop addresses = {};
  Loop ports = {};

  /// It must live as long as `metrics` are asked.
  void AddTo(Metrics& metrics);
};

}  // namespace berth::obs
