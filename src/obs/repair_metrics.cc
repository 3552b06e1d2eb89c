#include "obs/repair_metrics.h"

#include <string>

namespace berth::obs {
namespace {

void AddLoop(Metrics& metrics, const RepairMetrics::Loop& loop, const std::string& prefix,
             const std::string& what, const std::string& values, size_t types) {
  metrics.Add({.name = prefix + "_errors_total",
               .help = "Number of errors detected on " + values + " by the repair loop of " + what +
                       ", by type of error",
               .type = MetricType::kCounter,
               .labels = {"type"}},
              [&loop, types](Samples& out) {
                for (size_t i = 0; i < types; ++i) {
                  out.Add(static_cast<double>(loop.found[i].Value()),
                          {std::string(RepairMetrics::Loop::kTypes[i])});
                }
              });
}

void AddFailed(Metrics& metrics, const RepairMetrics::Loop& loop, const std::string& name,
               const std::string& what) {
  metrics.Add({.name = name,
               .help = "Number of reconciliation failures of the repair loop of " + what,
               .type = MetricType::kCounter},
              [&loop] { return static_cast<double>(loop.failed.Value()); });
}

}  // namespace

void RepairMetrics::Loop::Count(std::string_view type) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i] == type) found[i].Add();
  }
}

void RepairMetrics::AddTo(Metrics& metrics) {
  AddLoop(metrics, addresses, "apiserver_clusterip_repair_ip", "cluster IPs", "addresses",
          Loop::kTypes.size());
  AddFailed(metrics, addresses, "apiserver_clusterip_repair_reconcile_errors_total", "cluster IPs");
  // Ports have no type "invalid", the last one: a number is always a port.
  AddLoop(metrics, ports, "apiserver_nodeport_repair_port", "node ports", "ports",
          Loop::kTypes.size() - 1);
  AddFailed(metrics, ports, "apiserver_nodeport_repair_reconcile_errors_total", "node ports");
}

}  // namespace berth::obs
