// GET /metrics: all metrics of the server, for Prometheus.
#pragma once

#include "server/call.h"
#include "server/parts.h"

namespace berth::server {

void HandleMetrics(const Parts& parts, const CallPtr& call);

}  // namespace berth::server
