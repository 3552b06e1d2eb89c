#include "berth/serve/node_metrics.h"

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "allocation/ledger/ledger_view.h"
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

/// Returns a function that reads one member of a part's statistics.
template <typename Part, typename Stats, typename Number>
std::function<double()> From(const Part& part, Stats (Part::*read)() const,
                             Number Stats::* member) {
  return [&part, read, member] { return static_cast<double>((part.*read)().*member); };
}

void AddStore(const store::Engine& engine, Metrics& metrics) {
  AddNumber(metrics, MetricType::kGauge, "berth_store_writable",
            "1 if the store accepts writes, otherwise 0",
            [&engine] { return engine.GetHealth().writable ? 1 : 0; });
}

/// Returns a name such as "leases.coordination.k8s.io", as in Kubernetes' metric.
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
            "Number of events read from the store", count(&Follower::Stats::events));
  AddNumber(metrics, MetricType::kCounter, "berth_state_batches_total",
            "Number of batches of events read from the store", count(&Follower::Stats::batches));
  AddNumber(metrics, MetricType::kCounter, "berth_state_resets_total",
            "Number of times the whole store was read", count(&Follower::Stats::resets));
  AddNumber(metrics, MetricType::kGauge, "berth_state_undecodable_keys",
            "Number of keys that are not shown because their value cannot be decoded",
            count(&Follower::Stats::undecodable));
  AddNumber(metrics, MetricType::kGauge, "berth_state_ready",
            "1 if the state in memory is complete and follows the store, otherwise 0",
            [&follower] { return follower.Ready() ? 1 : 0; });
  AddNumber(metrics, MetricType::kGauge, "berth_state_revision", "Revision of the state in memory",
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
            "Number of recent events kept for watches", now(&Hub::Stats::events));
  AddNumber(metrics, MetricType::kGauge, "berth_watch_ring_bytes",
            "Memory used by recent events, in bytes", now(&Hub::Stats::bytes));
  AddNumber(metrics, MetricType::kGauge, "berth_watch_cursors",
            "Number of watches that read recent events, including those of the server itself",
            now(&Hub::Stats::cursors));
}

void AddCommit(const commit::Sequencer& sequencer, Metrics& metrics) {
  using commit::Sequencer;
  const auto count = [&sequencer](auto member) {
    return From(sequencer, &Sequencer::GetStats, member);
  };
  AddNumber(metrics, MetricType::kGauge, "berth_commit_waiting",
            "Number of writes in progress or waiting for another write of the same object",
            count(&Sequencer::Stats::waiting));
  AddNumber(metrics, MetricType::kCounter, "berth_commit_committed_total",
            "Number of committed writes", count(&Sequencer::Stats::committed));
  AddNumber(metrics, MetricType::kCounter, "berth_commit_conflicts_total",
            "Number of times a write was retried because something had changed",
            count(&Sequencer::Stats::conflicts));
  AddNumber(metrics, MetricType::kCounter, "berth_commit_unknown_total",
            "Number of transactions whose outcome was unknown at first",
            count(&Sequencer::Stats::unknown));
}

void AddHttp(const http::Server& web, Metrics& metrics) {
  const auto count = [&web](auto member) { return From(web, &http::Server::stats, member); };
  AddNumber(metrics, MetricType::kGauge, "berth_http_connections", "Number of open connections",
            count(&http::Stats::connections_now));
  AddNumber(metrics, MetricType::kCounter, "berth_http_connections_total",
            "Number of accepted connections", count(&http::Stats::connections));
  AddNumber(metrics, MetricType::kCounter, "berth_http_connections_refused_total",
            "Number of connections refused because there were too many",
            count(&http::Stats::connections_refused));
  AddNumber(metrics, MetricType::kCounter, "apiserver_tls_handshake_errors_total",
            "Number of failed TLS handshakes", count(&http::Stats::handshakes_failed));
  AddNumber(metrics, MetricType::kCounter, "berth_http_bad_requests_total",
            "Number of requests rejected while they were read: malformed or too large",
            count(&http::Stats::requests_bad));
  AddNumber(metrics, MetricType::kCounter, "berth_http_slow_clients_total",
            "Number of connections closed because the client was too slow",
            count(&http::Stats::timeouts));
  AddNumber(metrics, MetricType::kCounter, "berth_http_abusive_clients_total",
            "Number of HTTP/2 connections closed because the client abused the protocol",
            count(&http::Stats::h2_abuses));
  AddNumber(metrics, MetricType::kCounter, "berth_http_received_bytes_total",
            "Number of bytes received, without TLS", count(&http::Stats::bytes_read));
  AddNumber(metrics, MetricType::kCounter, "berth_http_sent_bytes_total",
            "Number of bytes sent, without TLS", count(&http::Stats::bytes_written));
}

}  // namespace

obs::AllocatorFill FillOf(const std::vector<allocation::RangeShare>& shares) {
  obs::AllocatorFill fill;
  std::unordered_map<std::string_view, size_t> places;
  for (const allocation::RangeShare& share : shares) {
    const auto allocated = static_cast<double>(share.allocated);
    const auto available = static_cast<double>(share.available);
    if (share.pool == allocation::PoolId::kPorts) {
      fill.allocated_ports += allocated;
      fill.available_ports += available;
      continue;
    }
    const auto [place, is_new] = places.emplace(share.text, fill.cidrs.size());
    if (is_new) fill.cidrs.push_back({.cidr = share.text});
    fill.cidrs[place->second].allocated += allocated;
    fill.cidrs[place->second].available += available;
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
            "Number of lines dropped from the audit log because its buffer was full",
            [audit = sources.audit] {
              return audit == nullptr ? 0 : static_cast<double>(audit->Dropped());
            });
}

}  // namespace berth::cli
