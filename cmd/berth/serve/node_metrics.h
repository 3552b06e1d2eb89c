// The metrics of a node's parts.
#pragma once

#include <string>
#include <vector>

#include "allocation/ledger/ledger_view.h"
#include "commit/sequencer.h"
#include "http/server.h"
#include "obs/allocator_metrics.h"
#include "obs/audit_log.h"
#include "obs/metrics.h"
#include "registry/kind_rows.h"
#include "state/follower.h"
#include "store/engine.h"
#include "watch/hub.h"

namespace berth::cli {

/// They must outlive the last use of the metrics.
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

/// Returns how full the ranges are. A CIDR that several ranges have is listed once, with their sum.
obs::AllocatorFill FillOf(const std::vector<allocation::RangeShare>& shares);

void AddNodeMetrics(const MetricSources& sources, obs::Metrics& metrics);

}  // namespace berth::cli
