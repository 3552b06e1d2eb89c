#include "berth/serve/node_metrics.h"

#include <algorithm>
#include <utility>

#include "obs/process_metrics.h"

namespace berth::cli {
namespace {

using obs::Metrics;
using obs::MetricType;
using obs::Samples;

void AddNumber(Metrics& metrics, MetricType type, const char* name, const char* help,
               std::function<double()> value) {
  metrics.Add({.name = name, .help = help, .type = type}, std::move(value));
}

/// A member of what a part's statistics are.
template <typename Part, typename Stats, typename Number>
std::function<double()> From(const Part& part, Stats (Part::*read)() const,
                             Number Stats::* member) {
  return [&part, read, member] { return static_cast<double>((part.*read)().*member); };
}

void AddStore(const store::Engine& engine, Metrics& metrics) {
  AddNumber(metrics, MetricType::kGauge, "berth_store_writable",
            "Whether the store takes writes: 1 if so, else 0",
            [&engine] { return engine.GetHealth().writable ? 1 : 0; });
}

/// "leases.coordination.k8s.io", as upstream names them here.
std::string ResourceName(const api::Kind& kind) {
  return kind.group.empty() ? std::string(kind.plural)
                            : std::string(kind.plural) + "." + std::string(kind.group);
}

void AddState(const registry::Kinds& kinds, const state::Follower& follower, Metrics& metrics) {
  using state::Follower;
  const auto count = [&follower](auto member) {
    return From(follower, &Follower::GetStats, member);
  };
  AddNumber(metrics, MetricType::kCounter, "berth_state_events_total",
            "Number of events that were read from the store", count(&Follower::Stats::events));
  AddNumber(metrics, MetricType::kCounter, "berth_state_batches_total",
            "Number of batches that these events came in", count(&Follower::Stats::batches));
  AddNumber(metrics, MetricType::kCounter, "berth_state_resets_total",
            "Number of times that the whole store was read", count(&Follower::Stats::resets));
  AddNumber(metrics, MetricType::kGauge, "berth_state_undecodable_keys",
            "Number of keys whose value cannot be decoded and so is not shown",
            count(&Follower::Stats::undecodable));
  AddNumber(metrics, MetricType::kGauge, "berth_state_ready",
            "Whether the picture is complete and follows the store: 1 if so, else 0",
            [&follower] { return follower.Ready() ? 1 : 0; });
  AddNumber(metrics, MetricType::kGauge, "berth_state_revision",
            "Revision of the store that the picture shows",
            [&follower] { return static_cast<double>(follower.Current()->Revision()); });
  metrics.Add({.name = "apiserver_storage_objects",
               .help = "Number of stored objects by resource",
               .type = MetricType::kGauge,
               .labels = {"resource"}},
              [&kinds, &follower](Samples& out) {
                const state::SnapshotPtr snapshot = follower.Current();
                for (const registry::Row& row : kinds.Rows()) {
                  out.Add(static_cast<double>(snapshot->Count(row.prefix)),
                          {ResourceName(*row.kind)});
                }
              });
}

void AddWatch(const watch::Hub& hub, Metrics& metrics) {
  using watch::Hub;
  const auto now = [&hub](auto member) { return From(hub, &Hub::GetStats, member); };
  AddNumber(metrics, MetricType::kGauge, "berth_watch_ring_events",
            "Number of recent events that are kept for watches", now(&Hub::Stats::events));
  AddNumber(metrics, MetricType::kGauge, "berth_watch_ring_bytes",
            "Memory that recent events take, in bytes", now(&Hub::Stats::bytes));
  AddNumber(metrics, MetricType::kGauge, "berth_watch_cursors",
            "Number of watches that read recent events, those of the server itself included",
            now(&Hub::Stats::cursors));
}

void AddCommit(const commit::Sequencer& sequencer, Metrics& metrics) {
  using commit::Sequencer;
  const auto count = [&sequencer](auto member) {
    return From(sequencer, &Sequencer::GetStats, member);
  };
  AddNumber(metrics, MetricType::kGauge, "berth_commit_waiting",
            "Number of writes that are under way or wait for another one of their object",
            count(&Sequencer::Stats::waiting));
  AddNumber(metrics, MetricType::kCounter, "berth_commit_committed_total",
            "Number of writes that were committed", count(&Sequencer::Stats::committed));
  AddNumber(metrics, MetricType::kCounter, "berth_commit_conflicts_total",
            "Number of times that a write was decided again because something had changed",
            count(&Sequencer::Stats::conflicts));
  AddNumber(metrics, MetricType::kCounter, "berth_commit_unknown_total",
            "Number of transactions whose outcome had to be found out",
            count(&Sequencer::Stats::unknown));
}

void AddHttp(const http::Server& web, Metrics& metrics) {
  const auto count = [&web](auto member) { return From(web, &http::Server::stats, member); };
  AddNumber(metrics, MetricType::kGauge, "berth_http_connections", "Number of open connections",
            count(&http::Stats::connections_now));
  AddNumber(metrics, MetricType::kCounter, "berth_http_connections_total",
            "Number of connections that were accepted", count(&http::Stats::connections));
  AddNumber(metrics, MetricType::kCounter, "berth_http_connections_refused_total",
            "Number of connections that were refused because there were too many",
            count(&http::Stats::connections_refused));
  AddNumber(metrics, MetricType::kCounter, "apiserver_tls_handshake_errors_total",
            "Number of TLS handshakes that failed", count(&http::Stats::handshakes_failed));
  AddNumber(metrics, MetricType::kCounter, "berth_http_bad_requests_total",
            "Number of requests that were answered before they were whole: malformed or too large",
            count(&http::Stats::requests_bad));
  AddNumber(metrics, MetricType::kCounter, "berth_http_slow_clients_total",
            "Number of connections that were closed because their client was too slow",
            count(&http::Stats::timeouts));
  AddNumber(metrics, MetricType::kCounter, "berth_http_abusive_clients_total",
            "Number of HTTP/2 connections that were closed because of what their client sent",
            count(&http::Stats::h2_abuses));
  AddNumber(metrics, MetricType::kCounter, "berth_http_received_bytes_total",
            "Number of bytes received, without TLS", count(&http::Stats::bytes_read));
  AddNumber(metrics, MetricType::kCounter, "berth_http_sent_bytes_total",
            "Number of bytes sent, without TLS", count(&http::Stats::bytes_written));
}

}  // namespace

obs::AllocatorFill FillOf(const std::vector<commit::Allocations::RangeState>& ranges) {
  obs::AllocatorFill fill;
  for (const commit::Allocations::RangeState& range : ranges) {
    alloc::StateCounts counts = range.in_static;
    counts += range.in_dynamic;
    const auto allocated =
        static_cast<double>(counts[alloc::State::kTaken] + counts[alloc::State::kReserved]);
    const auto available =
        static_cast<double>(counts[alloc::State::kFree] + counts[alloc::State::kCooling]);
    if (range.pool == commit::PoolId::kPorts) {
      fill.allocated_ports += allocated;
      fill.available_ports += available;
      continue;
    }
    const bool known = std::any_of(fill.cidrs.begin(), fill.cidrs.end(),
                                   [&range](const auto& each) { return each.cidr == range.text; });
    if (known) continue;
    fill.cidrs.push_back({.cidr = range.text, .allocated = allocated, .available = available});
  }
  return fill;
}

void AddNodeMetrics(const MetricSources& sources, Metrics& metrics) {
  obs::AddProcessMetrics(metrics);
  metrics.Add({.name = "berth_build_info",
               .help = "Always 1; the version is in the label",
               .type = MetricType::kGauge,
               .labels = {"version"}},
              [version = sources.version](Samples& out) { out.Add(1, {version}); });
  AddStore(sources.engine, metrics);
  AddState(sources.kinds, sources.follower, metrics);
  AddWatch(sources.hub, metrics);
  AddCommit(sources.sequencer, metrics);
  AddHttp(sources.web, metrics);
  AddNumber(metrics, MetricType::kCounter, "berth_audit_dropped_lines_total",
            "Number of lines that the audit log had no room for", [audit = sources.audit] {
              return audit == nullptr ? 0 : static_cast<double>(audit->Dropped());
            });
}

}  // namespace berth::cli
