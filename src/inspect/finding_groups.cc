#include "inspect/finding_groups.h"

#include <algorithm>
#include <array>
#include <utility>

#include "inspect/names.h"

namespace berth::inspect {
namespace {

using audit::FindingKind;

struct KindWords {
  Severity severity;
  std::string_view why;
};

/// In the order of the kinds.
constexpr std::array<KindWords, audit::kFindingKinds> kWords = {{
    {Severity::kCritical,
     "Traffic for one of the Services reaches the other. Decide which one keeps the value. For an "
     "address, delete the others and create them again; for a port, edit them."},
    {Severity::kWarning,
     "Nothing keeps the value from being given to a second Service. A running server makes the "
     "record again."},
    {Severity::kWarning,
     "Nobody gets the value until the record is gone. A server removes its own ones within "
     "minutes."},
    {Severity::kWarning, "The record may be removed with the Service that is gone."},
    {Severity::kWarning,
     "When the record is removed, nothing keeps the value from being given to a second Service."},
    {Severity::kNote, "Lists of addresses by family leave it out."},
    {Severity::kNote, "Clients that read the records see another use than the real one."},
    {Severity::kWarning,
     "The Service keeps the value, but could not get it again. Add or extend a range, or give the "
     "Service another value."},
    {Severity::kWarning,
     "The address means the network itself, or all hosts of it. Delete the Service and create it "
     "again."},
    {Severity::kNote,
     "The value is kept for a Service that cannot have it. Let a range give it out, or end the "
     "reservation."},
    {Severity::kNote, "The server shows a wrong reference. Report it as a bug."},
    {Severity::kNote, "The server shows a wrong reference. Report it as a bug."},
    {Severity::kNote,
     "A server writes the counts every second. If they stay wrong, see that a server runs."},
    {Severity::kWarning,
     "Services that name no family get one by chance. Decide which range is primary."},
    {Severity::kWarning,
     "The server leaves the object out. Put it back from a snapshot, or delete it."},
}};

constexpr std::string_view kMayPass =
    " It may pass by itself: this server writes a Service and its records one after the other.";

std::string Capitalized(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z')
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

std::optional<RangeRef> RangeWith(const Census& census,
                                  const std::optional<alloc::PoolValue>& value) {
  if (!value) return std::nullopt;
  const auto ranges = census.RangesOf(*value);
  if (ranges.empty()) return std::nullopt;
  return ranges.front();
}

GroupItem ItemOf(const Census& census, const audit::Finding& finding) {
  GroupItem item{.message = finding.message,
                 .advice = finding.advice,
                 .value = finding.value,
                 .range = RangeWith(census, finding.value)};
  if (!finding.owners.empty()) item.service = PathOf(finding.owners.front());
  return item;
}

void AddAudit(const Census& census, const audit::Report& report,
              std::vector<FindingGroup>& groups) {
  std::array<size_t, audit::kFindingKinds> group_of{};  // Its position plus one.
  std::array<bool, audit::kFindingKinds> lasting{};
  for (size_t i = 0; i < audit::kFindingKinds; ++i) {
    if (report.counts[i] == 0) continue;
    const auto kind = static_cast<FindingKind>(i);
    groups.push_back({.kind = audit::NameOf(kind),
                      .title = Capitalized(audit::MeaningOf(kind)),
                      .severity = kWords[i].severity,
                      .why = std::string(kWords[i].why),
                      .count = report.counts[i]});
    group_of[i] = groups.size();
  }
  for (const audit::Finding& finding : report.findings) {
    const auto kind = static_cast<size_t>(finding.kind);
    if (group_of[kind] == 0) continue;
    FindingGroup& group = groups[group_of[kind] - 1];
    lasting[kind] = lasting[kind] || !finding.may_settle;
    if (group.items.size() < kMostGroupItems) group.items.push_back(ItemOf(census, finding));
  }
  for (size_t i = 0; i < audit::kFindingKinds; ++i) {
    if (group_of[i] != 0 && !lasting[i]) groups[group_of[i] - 1].why += kMayPass;
  }
}

}  // namespace

Severity SeverityOf(FindingKind kind) { return kWords[static_cast<size_t>(kind)].severity; }

std::vector<FindingGroup> GroupFindings(const Census& census, const audit::Report& report,
                                        const std::vector<RunningFinding>& running) {
  std::vector<FindingGroup> groups;
  AddAudit(census, report, groups);
  for (const RunningFinding& each : running) {
    FindingGroup& group = groups.emplace_back(FindingGroup{.kind = each.kind,
                                                           .title = std::string(each.title),
                                                           .severity = each.severity,
                                                           .why = std::string(each.why),
                                                           .count = each.count});
    for (const RunningItem& item : each.items) {
      group.items.push_back({.message = Capitalized(item.message),
                             .advice = item.advice,
                             .value = item.value,
                             .service = item.service != nullptr ? PathOf(*item.service) : "",
                             .range = item.range ? item.range : RangeWith(census, item.value)});
    }
  }
  std::ranges::stable_sort(groups, std::ranges::greater{}, &FindingGroup::severity);
  return groups;
}

}  // namespace berth::inspect
