// What follows from a pass of the auditor: repairs that are safe (allocation/repairs.h), events,
// log lines, the metrics of Kubernetes' repair loops, and what the conditions of ranges say.
//
// - A finding that may pass by itself counts only if it is there for some seconds, in all passes,
// at
//   the same revision of the object that is wrong.
// - A record whose Service is gone is released if two passes in a row have found it at the same
//   revision.
// - A finding is told of when it is new, and again every three minutes while it lasts, as often as
//   Kubernetes' repair loops tell of it. Log lines are written for new findings only. Events that
//   speak of a repair are raised by the server that has repaired it.
// - All of this is bounded for each pass. What is left is done after the next one, if the finding
//   is still there then.
//
// Threads: one at a time. It waits for its repairs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocation/forms/form_switch.h"
#include "allocation/ledger/ledger.h"
#include "allocation/repairs.h"
#include "allocation/warning_events.h"
#include "audit/finding.h"
#include "base/clock.h"
#include "base/log.h"
#include "controllers/audit_events.h"
#include "controllers/range_findings.h"
#include "obs/auditor_metrics.h"
#include "obs/repair_metrics.h"
#include "registry/registry.h"
#include "state/snapshot.h"

namespace berth::controllers {

/// The kinds of repairs, as places in obs::AuditorMetrics.
enum class RepairKind : uint8_t { kRecordMade, kRecordRewritten, kRecordReleased };
std::vector<std::string> RepairKindNames();
/// Returns the names of all kinds of findings, in their order.
std::vector<std::string> FindingKindNames();

class AuditFollowUp {
 public:
  struct Parts {
    registry::Registry& registry;
    allocation::Ledger& ledger;
    const base::Clock& clock;
    base::Logger& log;
    allocation::RunWrite run;
    /// May be null or empty. All others must outlive it.
    obs::RepairMetrics* repair_metrics = nullptr;
    obs::AuditorMetrics* metrics = nullptr;
    RangeFindings* ranges = nullptr;
    /// Asks for a repair of the bitmaps.
    std::function<void()> repair_bitmaps = {};
  };
  AuditFollowUp(Parts parts, const base::SeededRandom& random);

  struct Outcome {
    audit::Report report = {};  // Without findings that may still pass by themselves.
    size_t repaired = 0;
    bool more = false;  // There is more to repair than the report has room for.
  };
  /// Acts on the report of a pass over the snapshot. `go_on` is asked between repairs.
  Outcome Take(audit::Report report, const state::Snapshot& snapshot,
               const std::function<bool()>& go_on);

  static constexpr std::chrono::minutes kTellAgain{3};
  /// For how long a finding that may pass by itself is not counted. Counts of ranges are written
  /// every second, and those of many ranges in turns.
  static constexpr std::chrono::seconds kSettle{10};
  static constexpr size_t kMaxEvents = 100;  // In one pass.
  static constexpr size_t kMaxLines = 20;    // In one pass.
  /// After so many repairs of a pass that failed, it tries no more. One alone may be about a value
  /// that others write all the time.
  static constexpr size_t kMaxFailed = 3;

 private:
  using Finding = audit::Finding;
  /// A finding of the last pass.
  struct Known {
    int64_t revision = 0;                       // Of the object that is wrong.
    base::SteadyTime since = {};                // When it was found first.
    std::optional<base::SteadyTime> told = {};  // When it was last counted and logged.
    bool raised = false;                        // Its events were raised since then.
  };
  /// What one call works with.
  struct Round {
    const state::Snapshot& snapshot;
    allocation::AllocationForm form;
    EventFacts events = {};
    size_t raised = 0;
    size_t lines = 0;
    size_t repaired = 0;
    size_t failed = 0;
  };

  void Tell(const Finding& finding, Known& known, Round& round);
  /// Counts the finding, and logs it if it is new.
  void Note(const Finding& finding, bool is_new, Round& round);
  /// Raises the events about the finding. Returns false if this pass has raised too many.
  bool Raise(const Finding& finding, Round& round);
  void Raise(const allocation::WarningEvent& event, Round& round);
  void Repair(const Finding& finding, bool seen_before, Round& round);
  void Release(const Finding& finding, Round& round);
  /// Runs a repair. Returns whether it changed anything.
  bool Run(commit::Write write, const Finding& finding, RepairKind kind, Round& round);
  obs::RepairMetrics::Loop* LoopOf(alloc::PoolId pool) const;
  RangeFindings::Faults FaultsOf(const std::vector<Finding>& findings) const;

  const Parts parts_;
  const allocation::RecordRows rows_;
  allocation::Repairs repairs_;
  allocation::WarningEvents events_;
  std::map<std::string, Known> known_;  // The findings of the last pass, by what they are about.
};

}  // namespace berth::controllers
