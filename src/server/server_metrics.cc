#include "server/server_metrics.h"

namespace berth::server {

/// Runs on a worker, because there may be hundreds of series and thousands of open files to count.
void HandleMetrics(const Parts& parts, const CallPtr& call) {
  const bool taken = parts.workers.Run([&metrics = parts.metrics, call] {
    call->Answer(200, obs::Metrics::kContentType, metrics.Text());
  });
  if (!taken) call->Fail(base::TooManyRequests());
}

}  // namespace berth::server
