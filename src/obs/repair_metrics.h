// Errors that the repair loops of bitmap mode have found, under the names that Kubernetes uses.
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
  /// The counters of one of the two loops.
  struct Loop {
    /// Counts an error whose `type` is in kTypes. Other types are ignored.
    void Count(std::string_view type);

    Counter failed = {};  // Failed passes.
    static constexpr std::array<std::string_view, 7> kTypes = {
        "leak", "repair", "full", "outOfRange", "duplicate", "unknown", "invalid"};
    std::array<Counter, kTypes.size()> found = {};
  };

  Loop addresses = {};
  Loop ports = {};

  /// Adds the metrics to `metrics`, which must not be scraped after this object's end.
  void AddTo(Metrics& metrics);
};

}  // namespace berth::obs
