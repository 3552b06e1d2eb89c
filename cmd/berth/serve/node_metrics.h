// What the parts of a node tell about themselves, as metrics.
#pragma once

#include <string>
#include <vector>

#include "commit/allocations.h"
#include "commit/sequencer.h"
#include "http/server.h"
#include "obs/allocator_metrics.h"
#include "obs/audit_log.h"
#include "obs/metrics.h"
#include "registry/kinds.h"
#include "state/follower.h"
#include "store/engine.h"
#include "watch/hub.h"

namespace berth::cli {

/// They must live as long as the metrics are asked.
struct MetricSources {
  const store::Engine& engine;
  const registry::Kinds& kinds;
  const state::Follower& follower;
  const watch::Hub& hub;
  const commit::Sequencer& sequencer;
  const http::Server& web;
  const obs::AuditLog* audit = nullptr;  // May be null.
  std::string version = {};
};

/// How full the ranges are. A CIDR that several ranges have is there once.
obs::AllocatorFill FillOf(const std::vector<commit::Allocations::RangeState>& ranges);

void AddNodeMetrics(const MetricSources& sources, obs::Metrics& metrics);

}  // namespace berth::cli
