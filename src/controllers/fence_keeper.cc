#include "controllers/fence_keeper.h"

#include <chrono>

namespace berth::controllers {
namespace {

constexpr std::chrono::seconds kFencesEvery{2};

}  // namespace

FenceKeeper::FenceKeeper(const Context& context, allocation::RangeChanges& ranges)
    : context_(context), ranges_(ranges), due_(context.clock.Steady() + kFencesEvery) {}

void FenceKeeper::Work() {
  if (context_.clock.Steady() < due_) return;
  due_ = context_.clock.Steady() + kFencesEvery;
  const state::SnapshotPtr snapshot = context_.follower.Current();
  for (const auto pool : {alloc::PoolId::kIpv4, alloc::PoolId::kIpv6, alloc::PoolId::kPorts}) {
    ranges_.OpenIfStale(pool, *snapshot);
  }
}

}  // namespace berth::controllers
