#include "berth/verify/look.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace berth::cli {
namespace {

using audit::Finding;
using audit::FindingKind;

/// Moves the findings for which `passes` is true, and no longer counts them.
void MoveSettling(Look& look, const std::function<bool(const Finding&)>& passes) {
  std::vector<Finding> kept;
  std::array<uint64_t, audit::kFindingKinds> listed = {};
  for (Finding& finding : look.report.findings) {
    const auto kind = static_cast<size_t>(finding.kind);
    if (!finding.may_settle || !passes(finding)) {
      ++listed[kind];
      kept.push_back(std::move(finding));
      continue;
    }
    --look.report.counts[kind];
    look.settling.push_back(std::move(finding));
  }
  look.report.findings = std::move(kept);
  // A report lists only so many findings of a kind. If all of those may pass, so may the others.
  for (const Finding& finding : look.settling) {
    const auto kind = static_cast<size_t>(finding.kind);
    if (listed[kind] == 0) look.report.counts[kind] = 0;
  }
}

/// Returns whether two looks have found the same fault. Counts that were written in between are not
/// the same.
bool IsSame(const Finding& a, const Finding& b) {
  if (a.kind != b.kind || a.value != b.value) return false;
  return a.kind != FindingKind::kWrongCount || a.object == b.object;
}

}  // namespace

bool NeedsSecondLook(const Look& look) {
  return std::ranges::any_of(look.report.findings, &Finding::may_settle);
}

void SettleAtRest(Look& look) {
  MoveSettling(look, [&look](const Finding& finding) {
    // No server ends it, and all Services were read at once.
    if (finding.kind == FindingKind::kTwoOwners) return false;
    if (finding.kind != FindingKind::kWrongCount || !finding.object) return true;
    return finding.object->revision < look.newest_write;
  });
}

void SettleRunning(Look& look, const Look& earlier) {
  MoveSettling(look, [&earlier](const Finding& finding) {
    return std::ranges::none_of(earlier.report.findings, [&finding](const Finding& before) {
      return IsSame(before, finding);
    });
  });
}

Look WatchedLooks::Next(Look look, base::SteadyTime now) {
  for (Finding& finding : look.report.findings) finding.may_settle = true;
  if (!recent_at_ || now - *recent_at_ >= kSettleTime) {
    earlier_ = std::exchange(recent_, look);
    recent_at_ = now;
  }
  SettleRunning(look, earlier_);
  look.why_settling = "they may be writes in progress; a later look decides";
  return look;
}

}  // namespace berth::cli
