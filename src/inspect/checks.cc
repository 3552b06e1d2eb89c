#include "inspect/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "audit/facts.h"
#include "audit/pass.h"
#include "audit/words.h"

namespace berth::inspect {
namespace {

using audit::Finding;
using audit::FindingKind;

audit::ServiceFacts FactsOf(const Service& service) {
  audit::ServiceFacts facts{.object = service.object};
  facts.holds.reserve(service.holds.size());
  for (const Held& held : service.holds) {
    facts.holds.push_back(
        {.value = held.value, .health_check = held.health_check, .ports = held.ports});
  }
  return facts;
}

/// Returns whether a write in progress explains the finding on a cluster that writes a Service and
/// its IPAddresses one after the other.
bool MaySettle(FindingKind kind) {
  switch (kind) {
    case FindingKind::kNoRecord:
    case FindingKind::kOrphan:
    case FindingKind::kWrongOwner:
    case FindingKind::kWrongUid:
    case FindingKind::kTwoOwners:
      return true;
    default:
      return false;
  }
}

/// Replaces advice that only holds for Berth, which repairs its records. kube-apiserver makes a
/// missing IPAddress again when the Service is written, and deletes its own ones without a Service.
void AdviseForKubernetes(Finding& finding) {
  if (finding.kind == FindingKind::kNoRecord && !finding.owners.empty()) {
    const audit::ObjectRef& service = finding.owners.front();
    finding.advice = fmt::format(
        "Write the Service, and the API server makes the IPAddress again: kubectl annotate service "
        "{} -n {} --overwrite checked=again",
        service.name, service.name_space);
  } else if (finding.kind == FindingKind::kOrphan && finding.object) {
    finding.advice = fmt::format(
        "The API server deletes it within minutes if it made it; else: kubectl delete ipaddress {}",
        finding.object->name);
  } else if (finding.kind == FindingKind::kTwoOwners && finding.value &&
             finding.value->pool != alloc::PoolId::kPorts) {
    finding.advice +=
        ". The IPAddress goes with it; so write the one that keeps the address, and the API server "
        "makes it again: kubectl annotate service NAME -n NAMESPACE --overwrite checked=again";
  } else if (finding.kind == FindingKind::kOutOfRange && finding.value &&
             finding.advice.starts_with(audit::kExtendRange)) {
    const bool port = finding.value->pool == alloc::PoolId::kPorts;
    finding.advice.replace(0, audit::kExtendRange.size(),
                           port ? "Start the API servers with a --service-node-port-range that "
                                  "contains it"
                                : "Add a ServiceCIDR that contains it");
  }
}

/// Returns whether every range of the pool is one that the source shows or a flag gives.
bool RangesAreExact(const Cluster& cluster, alloc::PoolId pool) {
  return std::ranges::all_of(cluster.ranges, [pool](const Range& range) {
    return range.exact || std::ranges::none_of(range.facts.range.parts, [pool](const auto& part) {
             return part.pool == pool;
           });
  });
}

void RemoveFindings(audit::Report& report, const std::function<bool(const Finding&)>& remove) {
  std::erase_if(report.findings, [&](const Finding& finding) {
    if (!remove(finding)) return false;
    --report.counts[static_cast<size_t>(finding.kind)];
    return true;
  });
}

}  // namespace

bool IsYoung(const Cluster& cluster, const Record& record) {
  return cluster.server != ServerKind::kBerth && record.since &&
         cluster.read_at - *record.since < kRepairTime;
}

audit::Report CheckCluster(const Cluster& cluster) {
  audit::Pass pass({.keeps = cluster.keeps, .revision = cluster.revision});
  for (const Service& service : cluster.services) pass.AddService(FactsOf(service));
  for (const Range& range : cluster.ranges) pass.AddRange(range.facts);
  for (const Record& record : cluster.records) pass.AddRecord(record.facts);
  audit::Report report = std::move(pass).Finish();
  if (cluster.server == ServerKind::kBerth) return report;

  const auto is_young = [&cluster](const Finding& finding) {
    if (finding.kind != FindingKind::kOrphan || !finding.value) return false;
    const auto order = [](const Record& record) {
      return std::pair(record.facts.value.pool, record.facts.value.value);
    };
    const auto record = std::ranges::lower_bound(
        cluster.records, std::pair(finding.value->pool, finding.value->value), {}, order);
    return record != cluster.records.end() && record->facts.value == *finding.value &&
           IsYoung(cluster, *record);
  };
  RemoveFindings(report, [&](const Finding& finding) {
    const bool by_range =
        finding.kind == FindingKind::kOutOfRange || finding.kind == FindingKind::kUnusable;
    if (by_range && finding.value) return !RangesAreExact(cluster, finding.value->pool);
    return is_young(finding);
  });
  for (Finding& finding : report.findings) {
    finding.may_settle = finding.may_settle || MaySettle(finding.kind);
    AdviseForKubernetes(finding);
  }
  return report;
}

}  // namespace berth::inspect
