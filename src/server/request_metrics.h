// Metrics of requests: how many there were, how they ended and how long they took; which watches
// run, and how many events they were sent. Names and labels are those of kube-apiserver, so that
// its dashboards and alerts work.
//
// The first request creates a series. A series is found without a lock, because its index follows
// from the request. The number of series is bounded by the verbs, resources and scopes: a client
// cannot create new labels.
//
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "obs/instruments.h"
#include "obs/metrics.h"
#include "registry/kind_rows.h"

namespace berth::server {

class Call;

/// Codes that have a counter of their own. All other codes share one.
inline constexpr std::array kCountedCodes = {200, 201, 202, 301, 304, 400, 401, 403, 404, 405,
                                             406, 409, 410, 413, 415, 422, 429, 500, 503, 504};

struct RequestSeries {
  RequestSeries();

  void Count(int code, std::chrono::nanoseconds took);

  std::array<obs::Counter, kCountedCodes.size() + 1> by_code = {};
  obs::Histogram duration;
  obs::Gauge running;  // Watches that are open.
};

struct WatchSeries {
  obs::Counter events;
  obs::Counter expired;
};

/// A watch while it is open. When it ends, it is counted as a request.
class RunningWatch {
 public:
  RunningWatch(RequestSeries& requests, WatchSeries& watches, const base::Clock& clock,
               base::SteadyTime started)
      : requests_(requests), watches_(watches), clock_(clock), started_(started) {
    requests_.running.Add(1);
  }
  ~RunningWatch() {
    requests_.running.Add(-1);
    requests_.Count(200, clock_.Steady() - started_);
  }
  RunningWatch(const RunningWatch&) = delete;
  RunningWatch& operator=(const RunningWatch&) = delete;

  void CountEvents(size_t events) {
    if (events > 0) watches_.events.Add(events);
  }
  void CountExpired() { watches_.expired.Add(); }

 private:
  RequestSeries& requests_;
  WatchSeries& watches_;
  const base::Clock& clock_;
  const base::SteadyTime started_;
};

class RequestMetrics {
 public:
  /// `kinds` must outlive the metrics.
  explicit RequestMetrics(const registry::Kinds& kinds);
  ~RequestMetrics();
  RequestMetrics(const RequestMetrics&) = delete;
  RequestMetrics& operator=(const RequestMetrics&) = delete;

  /// Returns the series that counts requests such as this one.
  RequestSeries& Of(const Call& call);
  WatchSeries& WatchesOf(const Call& call) { return watches_[ViewOf(call)]; }

  /// Registers the metrics. This object must outlive the last use of `metrics`.
  void AddTo(obs::Metrics& metrics) const;

 private:
  struct Labels {
    std::string verb = {};
    std::string dry_run = {};
    std::string group = {};
    std::string version = {};
    std::string resource = {};
    std::string subresource = {};
    std::string scope = {};
  };

  size_t ViewOf(const Call& call) const;
  size_t PlaceOf(const Call& call) const;
  Labels LabelsOf(size_t index) const;
  void AddWatches(obs::Metrics& metrics) const;
  template <typename Report>
  void ForEach(const Report& report) const;

  const std::vector<const api::Kind*> views_;
  std::vector<WatchSeries> watches_;  // By view.
  /// By place, verb and whether it is a dry run. Null if there was no such request.
  std::vector<std::atomic<RequestSeries*>> series_;
};

}  // namespace berth::server
