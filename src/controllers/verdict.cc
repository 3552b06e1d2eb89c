#include "controllers/verdict.h"

namespace berth::controllers {
namespace {

using Kind = Verdict::Kind;

std::vector<std::string> UidsOf(const Situation& situation, OwnerState state) {
  std::vector<std::string> uids;
  for (size_t i = 0; i < situation.owners.size(); ++i) {
    if (situation.owners[i] == state) uids.push_back(situation.facts.owners[i].uid);
  }
  return uids;
}

Verdict DropOwners(std::vector<std::string> uids) {
  if (uids.empty()) return {};
  return {.kind = Kind::kDropOwners, .owners = std::move(uids)};
}

/// An object that waits until its dependents are dealt with.
Verdict JudgeWaiting(const Situation& situation) {
  const bool orphan = situation.facts.waits == Waits::kOrphan;
  if ((orphan ? situation.dependents : situation.blocking) == 0) return {.kind = Kind::kFinish};
  if (!orphan && situation.in_circle) return {.kind = Kind::kUnblock};
  return {};
}

}  // namespace

Verdict Judge(const Situation& situation) {
  const Facts& facts = situation.facts;
  // Before anything else, also for what is going itself: their owner waits for nothing but this.
  if (Verdict let_go = DropOwners(UidsOf(situation, OwnerState::kOrphaning));
      let_go.kind != Kind::kNothing) {
    return let_go;
  }
  if (facts.waits != Waits::kNo) return JudgeWaiting(situation);
  if (facts.deleted || facts.owners.empty()) return {};

  const std::vector<std::string> waiting = UidsOf(situation, OwnerState::kWaiting);
  // An owner nobody can look up may be there: the object stays as it is. But one that waits for it
  // must not do so for ever.
  if (!UidsOf(situation, OwnerState::kUnknown).empty()) return DropOwners(waiting);
  if (!UidsOf(situation, OwnerState::kSolid).empty()) {
    std::vector<std::string> gone = UidsOf(situation, OwnerState::kAbsent);
    gone.insert(gone.end(), waiting.begin(), waiting.end());
    return DropOwners(std::move(gone));
  }
  const bool foreground = !waiting.empty() && situation.dependents > 0;
  return {.kind = foreground ? Kind::kDeleteForeground : Kind::kDelete};
}

}  // namespace berth::controllers
