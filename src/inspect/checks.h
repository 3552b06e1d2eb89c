// Runs the checks of the auditor on the view of a cluster. Pure.
#pragma once

#include <chrono>

#include "audit/finding.h"
#include "inspect/cluster.h"

namespace berth::inspect {

/// kube-apiserver makes and deletes the IPAddress of a Service with writes of their own, so one
/// without the other is normal for a moment. Its repair deletes an IPAddress without a Service
/// after a minute. Younger ones are not reported.
inline constexpr std::chrono::seconds kRepairTime{60};

/// Returns whether a record is so young that a server that is not Berth may still be writing its
/// Service.
bool IsYoung(const Cluster& cluster, const Record& record);

/// Returns what is wrong. For a cluster that is not Berth, findings that a write in progress
/// explains have `may_settle`, and an IPAddress that is younger than kRepairTime is not taken for
/// an orphan. Ranges that were assumed are not used to say that a value lies outside of them.
audit::Report CheckCluster(const Cluster& cluster);

}  // namespace berth::inspect
