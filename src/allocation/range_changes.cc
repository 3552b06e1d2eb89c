#include "allocation/range_changes.h"

#include <chrono>
#include <utility>

namespace berth::allocation {
namespace {

/// No operation needs longer from closing a fence to opening it.
constexpr std::chrono::seconds kStaleAfter{10};

}  // namespace

RangeChanges::RangeChanges(const RecordRows& rows, const registry::Gates& gates,
                           commit::Sequencer& sequencer, Ledger& ledger, const base::Clock& clock,
                           const base::SeededRandom& random)
    : uuids_(random),
      parts_{.rows = rows,
             .gates = gates,
             .sequencer = sequencer,
             .ledger = ledger,
             .uuids = uuids_,
             .clock = clock} {}

std::shared_ptr<registry::WriteHooks> RangeChanges::Begin(const registry::Target& /*target*/,
                                                          const registry::CommonOptions& options) {
  return std::make_shared<RangeChange>(parts_, options, uuids_.Next());
}

void RangeChanges::Reset(const RangeReset& reset, commit::Done done) {
  ResetRanges(parts_, reset, uuids_.Next(), std::move(done));
}

void RangeChanges::OpenIfStale(PoolId pool, const state::Snapshot& snapshot) {
  const state::ObjectPtr fence = snapshot.Find(FenceKey(pool));
  const auto closed = fence ? ReadFence(*parts_.rows.fences, *fence) : std::nullopt;
  if (!closed) return;
  {
    base::MutexLock lock(mutex_);
    FoundClosed& found = found_closed_[pool];
    const base::SteadyTime now = parts_.clock.Steady();
    if (std::exchange(found.revision, fence->Revision()) != fence->Revision()) found.since = now;
    if (now - found.since < kStaleAfter) return;
  }
  RangeChange::Open(parts_, closed->operation, {pool}, [] {});
}

}  // namespace berth::allocation
