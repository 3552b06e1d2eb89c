#include "controllers/audit_follow_up.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "allocation/allocation_forms.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/records.h"
#include "codec/read.h"
#include "ip/cidr.h"
#include "ip/port_range.h"
#include "state/object.h"

namespace berth::controllers {
namespace {

using alloc::PoolId;
using alloc::PoolValue;
using allocation::AllocationForm;
using audit::Finding;
using audit::FindingKind;

constexpr size_t kPortRangesNamed = 3;

/// Returns what the finding is about, in a form that is the same in each pass.
std::string IdentityOf(const Finding& finding) {
  std::string text(audit::NameOf(finding.kind));
  if (finding.value) text += " " + allocation::RecordName(*finding.value);
  if (finding.object) {
    text += fmt::format(" {}/{}/{}", finding.object->resource, finding.object->name_space,
                        finding.object->name);
  }
  for (const audit::ObjectRef& owner : finding.owners) {
    text += fmt::format(" {}/{}", owner.name_space, owner.name);
  }
  return text + " " + finding.key;
}

std::string PortRangesText(const allocation::Ledger& ledger) {
  std::vector<std::string> texts;
  for (const auto& range : allocation::LedgerView(ledger).Ranges(PoolId::kPorts)) {
    if (texts.size() < kPortRangesNamed) texts.push_back(range.text);
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

/// Returns all values of a range, also those that it never gives out.
std::optional<alloc::Interval> WholeOf(const allocation::RangeState& range) {
  if (range.pool == PoolId::kPorts) {
    const auto ports = ip::ParsePortRange(range.text);
    if (!ports) return std::nullopt;
    return alloc::Interval{.first = ports->first(), .last = ports->last()};
  }
  const auto cidr = ip::ParseCidr(range.text);
  if (!cidr) return std::nullopt;
  return alloc::Interval{.first = cidr->First().bits(), .last = cidr->Last().bits()};
}

bool IsAbout(const Finding& finding, const allocation::RangeState& range,
             const std::optional<alloc::Interval>& whole) {
  if (finding.value && whole) {
    return finding.value->pool == range.pool && whole->Contains(finding.value->value);
  }
  if (finding.value || !finding.object) return false;
  const std::string_view resource =
      range.kind == alloc::RangeKind::kIpRange ? "ipranges" : "nodeportranges";
  return finding.object->resource == resource && finding.object->name == range.name;
}

allocation::ServiceId IdOf(const audit::ObjectRef& service) {
  return {.name_space = service.name_space, .name = service.name};
}

/// Returns whether the record of the value says something else than that its owner has it.
bool HasWrongRecord(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::kWrongUid:
    case FindingKind::kWrongOwner:
    case FindingKind::kWrongFamily:
    case FindingKind::kWrongPurpose:
      return true;
    default:
      return false;
  }
}

/// Returns whether the record of the value may be made or rewritten. Of several owners none is
/// preferred.
bool IsRepairable(const Finding& finding) {
  return finding.owner_count == 1 && finding.owners.size() == 1 &&
         (finding.kind == FindingKind::kNoRecord || HasWrongRecord(finding));
}

}  // namespace

std::vector<std::string> RepairKindNames() {
  return {"RecordMade", "RecordRewritten", "RecordReleased"};
}

std::vector<std::string> FindingKindNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < audit::kFindingKinds; ++i) {
    names.emplace_back(audit::NameOf(static_cast<FindingKind>(i)));
  }
  return names;
}

AuditFollowUp::AuditFollowUp(Parts parts, const base::SeededRandom& random)
    : parts_(std::move(parts)),
      rows_(allocation::RecordRowsOf(parts_.registry.GetKinds())),
      repairs_(
          {.kinds = parts_.registry.GetKinds(), .ledger = parts_.ledger, .clock = parts_.clock},
          random),
      events_(parts_.registry, parts_.clock, parts_.log) {}

AuditFollowUp::Outcome AuditFollowUp::Take(audit::Report report, const state::Snapshot& snapshot,
                                           const std::function<bool()>& go_on) {
  Round round{.snapshot = snapshot, .form = allocation::FormIn(rows_, snapshot).form};
  round.events = {.records_count = round.form == AllocationForm::kRecords,
                  .port_ranges = PortRangesText(parts_.ledger)};
  std::map<std::string, Known> known;
  std::vector<Finding> kept;
  bool bits_missing = false;
  for (Finding& finding : report.findings) {
    const std::string identity = IdentityOf(finding);
    const int64_t revision = finding.object ? finding.object->revision : 0;
    const auto before = known_.find(identity);
    const bool seen = before != known_.end() && before->second.revision == revision;
    Known& now = known[identity];
    now = seen ? before->second : Known{.revision = revision, .since = parts_.clock.Steady()};
    if (finding.may_settle && parts_.clock.Steady() - now.since < kSettle) {
      --report.counts[static_cast<size_t>(finding.kind)];
      continue;
    }
    Tell(finding, now, round);
    bits_missing |= finding.kind == FindingKind::kNoRecord;
    if (go_on()) Repair(finding, seen, round);
    kept.push_back(std::move(finding));
  }
  known_ = std::move(known);
  if (bits_missing && round.form == AllocationForm::kBitmaps && parts_.repair_bitmaps) {
    parts_.repair_bitmaps();
  }
  report.findings = std::move(kept);
  if (parts_.ranges != nullptr) parts_.ranges->Set(FaultsOf(report.findings));
  const bool cut = std::ranges::any_of(report.counts,
                                       [](uint64_t count) { return count > audit::kMaxFindings; });
  return {.report = std::move(report),
          .repaired = round.repaired,
          .more = cut && round.repaired > 0 && round.failed == 0};
}

void AuditFollowUp::Tell(const Finding& finding, Known& known, Round& round) {
  const base::SteadyTime now = parts_.clock.Steady();
  const bool is_new = !known.told;
  if (is_new || now - *known.told >= kTellAgain) {
    known.told = now;
    known.raised = false;
    Note(finding, is_new, round);
  }
  // The events of other findings say that they are repaired, so they follow the repair.
  if (known.raised || IsRepairable(finding)) return;
  known.raised = Raise(finding, round);
}

bool AuditFollowUp::Raise(const Finding& finding, Round& round) {
  if (round.raised >= kMaxEvents) return false;
  for (const allocation::WarningEvent& event : EventsOf(finding, round.events)) {
    Raise(event, round);
  }
  return true;
}

void AuditFollowUp::Note(const Finding& finding, bool is_new, Round& round) {
  if (is_new && ++round.lines <= kMaxLines) {
    parts_.log.Warn("the auditor has found something", {{"kind", audit::NameOf(finding.kind)},
                                                        {"what", finding.message},
                                                        {"advice", finding.advice}});
  } else if (is_new && round.lines == kMaxLines + 1) {
    parts_.log.Warn("the auditor has found more, which is not logged");
  }
  obs::RepairMetrics::Loop* loop = finding.value ? LoopOf(finding.value->pool) : nullptr;
  if (loop != nullptr) loop->Count(RepairLabelOf(finding.kind, round.events));
}

void AuditFollowUp::Raise(const allocation::WarningEvent& event, Round& round) {
  ++round.raised;
  events_.Raise(event);
}

void AuditFollowUp::Repair(const Finding& finding, bool seen_before, Round& round) {
  if (round.form != AllocationForm::kRecords || round.failed >= kMaxFailed || !finding.value)
    return;
  if (finding.kind == FindingKind::kOrphan) {
    if (seen_before) Release(finding, round);
    return;
  }
  if (!IsRepairable(finding)) return;
  const allocation::ServiceId owner = IdOf(finding.owners.front());
  if (HasWrongRecord(finding) && finding.object) {
    Run(repairs_.RewriteRecord(*finding.value, finding.object->revision, owner), finding,
        RepairKind::kRecordRewritten, round);
  } else if (finding.kind == FindingKind::kNoRecord) {
    Run(repairs_.MakeRecord(*finding.value, owner), finding, RepairKind::kRecordMade, round);
  }
}

void AuditFollowUp::Release(const Finding& finding, Round& round) {
  const std::string key = allocation::RecordKey(rows_, *finding.value);
  const auto found = round.snapshot.Find(key);
  if (found == nullptr) return;
  const registry::Row& row =
      finding.value->pool == PoolId::kPorts ? *rows_.node_ports : *rows_.ip_addresses;
  const auto record = registry::DecodeWithoutManagedFields(row, *found);
  const auto named = allocation::ServiceNamedBy(rows_, *found);
  if (!Run(repairs_.ReleaseRecord(*finding.value, found->Revision()), finding,
           RepairKind::kRecordReleased, round)) {
    return;
  }
  if (auto* loop = LoopOf(finding.value->pool)) loop->Count("leak");
  if (round.raised >= kMaxEvents) return;
  const registry::Row& services = *parts_.registry.GetKinds().FindRow(api::kServiceKind);
  const bool exists = named && round.snapshot.Find(services.prefix + named->name_space + "/" +
                                                   named->name) != nullptr;
  Raise(EventOf({.value = *finding.value,
                 .name = std::string(found->Name()),
                 .uid = record ? std::string(codec::StringAt(*record, "metadata", "uid")) : "",
                 .service = named,
                 .service_exists = exists}),
        round);
}

bool AuditFollowUp::Run(commit::Write write, const Finding& finding, RepairKind kind,
                        Round& round) {
  const auto written = parts_.run(std::move(write));
  if (!written) {
    ++round.failed;
    if (auto* loop = LoopOf(finding.value->pool)) loop->failed.Add();
    parts_.log.Warn("a record cannot be repaired",
                    {{"record", finding.message}, {"why", written.error().message}});
    return false;
  }
  if (written->kind == commit::Written::Kind::kUnchanged) return false;
  ++round.repaired;
  if (parts_.metrics != nullptr) parts_.metrics->CountRepair(static_cast<size_t>(kind));
  if (++round.lines <= kMaxLines) {
    parts_.log.Info("a record was repaired",
                    {{"repair", RepairKindNames()[static_cast<size_t>(kind)]},
                     {"record", allocation::RecordName(*finding.value)}});
  }
  if (IsRepairable(finding)) Raise(finding, round);
  return true;
}

obs::RepairMetrics::Loop* AuditFollowUp::LoopOf(PoolId pool) const {
  if (parts_.repair_metrics == nullptr) return nullptr;
  return pool == PoolId::kPorts ? &parts_.repair_metrics->ports : &parts_.repair_metrics->addresses;
}

RangeFindings::Faults AuditFollowUp::FaultsOf(const std::vector<Finding>& findings) const {
  RangeFindings::Faults faults;
  if (findings.empty()) return faults;
  for (const auto& range : allocation::LedgerView(parts_.ledger).RangesInForceOrNot()) {
    const auto whole = WholeOf(range);
    const Finding* first = nullptr;
    size_t count = 0;
    for (const Finding& finding : findings) {
      if (!IsAbout(finding, range, whole)) continue;
      if (first == nullptr) first = &finding;
      ++count;
    }
    if (first == nullptr) continue;
    faults[{range.kind, range.name}] = {
        .reason = std::string(audit::NameOf(first->kind)),
        .message = count == 1 ? first->message
                              : fmt::format("{}; and {} more", first->message, count - 1)};
  }
  return faults;
}

}  // namespace berth::controllers
