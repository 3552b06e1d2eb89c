// What `berth observe` serves: health, metrics, and answers about now and the past as JSON.
//
//   /livez, /readyz, /healthz              open to all; ?verbose tells the lag of each resource
//   /metrics
//   /api/v1/top                            ranges, namespaces and findings, as last counted
//   /api/v1/whois?value=V[&at=TIME]        who holds the value, or held it
//   /api/v1/history?value=V                all spans of a value
//   /api/v1/history?service=NS/NAME        all spans of a Service
//   /api/v1/use?range=R&from=T&to=T&step=SECONDS     how many values were held, over time
//
// Errors are JSON with a message.
//
// Threads: Handle may be called from any thread and does not block. Answers that read files or ask
// the cluster are made by workers.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "berth/observe/reviewer.h"
#include "http/message.h"
#include "http/responder.h"
#include "obs/metrics.h"
#include "observe/observer.h"
#include "server/health.h"
#include "server/query.h"
#include "server/workers.h"
#include "ui/origin_check.h"

namespace berth::cli {

class ObserverWeb {
 public:
  struct Parts {
    observe::Observer& observer;
    const obs::Metrics& metrics;
    const base::Clock& clock;
    /// Null if every client that can connect may read.
    Reviewer* reviewer = nullptr;
    /// What /api/ may be asked under, if every client may read; null if under every name.
    const ui::OriginCheck* names = nullptr;
    /// Beyond this lag the observer is not ready. Nullopt for a source that does not change.
    std::optional<std::chrono::seconds> max_lag = {};
  };

  explicit ObserverWeb(const Parts& parts);

  void Handle(const http::Request& request, const http::Responder& responder);

 private:
  http::Response Answer(const std::string& path, const server::Query& query) const;
  std::optional<http::Response> Refuse(const http::Request& request) const;
  http::Response AnswerHealth(const std::string& path, const server::Query& query) const;
  /// Returns the time that a question about now is answered for. While the cluster is followed that
  /// is the last second of which everything is known, so that the answer can be certain.
  base::WallTime LatestTime() const;
  base::Result<codec::Value> Whois(const server::Query& query) const;
  base::Result<codec::Value> History(const server::Query& query) const;
  base::Result<codec::Value> Use(const server::Query& query) const;
  base::Result<codec::Value> Top() const;
  std::optional<std::string> WhyNotReady() const;
  std::string LagText() const;

  const Parts parts_;
  server::Health health_;
  server::Workers workers_;  // The last member: it ends before what it uses.
};

}  // namespace berth::cli
