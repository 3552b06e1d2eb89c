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

/// Judges an object that waits for its dependents.
Verdict JudgeWaiting(const Situation& situation) {
  const bool orphan = situation.facts.waits == Waits::kOrphan;
  if ((orphan ? situation.dependents : situation.blocking) == 0) return {.kind = Kind::kFinish};
  if (!orphan && situation.in_circle) return {.kind = Kind::kUnblock};
  return {};
}

}  // namespace

Verdict Judge(const Situation& situation) {
  const Facts& facts = situation.facts;
  // This comes first, even for an object that is being deleted, because its owner waits for this
  // alone.
  if (Verdict let_go = DropOwners(UidsOf(situation, OwnerState::kOrphaning));
      let_go.kind != Kind::kNothing) {
    return let_go;
  }
  if (facts.waits != Waits::kNo) return JudgeWaiting(situation);
  if (facts.deleted || facts.owners.empty()) return {};

  const std::vector<std::string> waiting = UidsOf(situation, OwnerState::kWaiting);
  // An owner that cannot be looked up may exist, so the object stays. But an owner that waits for
  // the object must not wait for ever.
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
