// The metrics of an observer: how full ranges are, what is wrong, how well the cluster is followed,
// and how large the history is. docs/observe.md lists them.
#pragma once

#include "obs/metrics.h"
#include "observe/observer.h"

namespace berth::observe {

/// Adds the metrics. The observer and the clock must outlive the last scrape.
void AddObserverMetrics(Observer& observer, const base::Clock& clock, obs::Metrics& metrics);

}  // namespace berth::observe
