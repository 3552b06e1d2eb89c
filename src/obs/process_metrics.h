// The system's figures about this process, under the names that every Prometheus client uses.
#pragma once

#include "obs/metrics.h"

namespace berth::obs {

void AddProcessMetrics(Metrics& metrics);

}  // namespace berth::obs
