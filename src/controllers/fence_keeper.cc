#include "controllers/fence_keeper.h"

#include <chrono>

namespace berth::controllers {
namespace {

constexpr std::chrono::seconds kLookEvery{2};

}  // namespace

FenceKeeper::FenceKeeper(const Context& context)
    : context_(context), due_(context.clock.Steady() + kLookEvery) {}

void FenceKeeper::Work() {
  if (context_.clock.Steady() < due_) return;
  due_ = context_.clock.Steady() + kLookEvery;
  for (const auto pool : {alloc::PoolId::kIpv4, alloc::PoolId::kIpv6, alloc::PoolId::kPorts}) {
    context_.registry.Ranges().OpenIfStale(pool);
  }
}

}  // namespace berth::controllers
