#include "controllers/controllers.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace berth::controllers {
namespace {

/// Enough to keep every engine busy, and a small part of what may wait in the sequencer.
constexpr size_t kWritesAtOnce = 512;

/// Who has nothing under way reads changes together, not each as it comes: most of them concern
/// nobody here, and waking up for one costs as much as for a hundred.
constexpr std::chrono::milliseconds kGather{5};

}  // namespace

Controllers::Controllers(const Parts& parts, const base::SeededRandom& random)
    : clock_(parts.clock),
      wake_(std::make_shared<Wake>()),
      writer_(parts.registry, wake_, kWritesAtOnce),
      context_{parts.registry, parts.follower, writer_, wake_, parts.clock, parts.log},
      collector_(context_),
      terminator_(context_, random),
      keeper_(context_, parts.allocations, parts.secure_port),
      statuses_(context_, parts.allocations),
      cidrs_(context_, parts.allocations),
      fences_(context_),
      replica_(context_, parts.replica),
      feed_(parts.follower, parts.hub, {&collector_, &terminator_, &statuses_}, wake_, parts.clock,
            parts.log) {}

Controllers::~Controllers() { Stop(); }

void Controllers::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Controllers::Stop() {
  stop_ = true;
  wake_->Raise();
  if (thread_.joinable()) thread_.join();
}

void Controllers::Run() {
  while (!stop_) {
    if (Pump()) continue;
    wake_->WaitUntil(NextDue(), clock_);
    if (writer_.UnderWay() == 0) std::this_thread::sleep_for(kGather);
  }
}

bool Controllers::Pump() {
  bool any = wake_->RunPosted();
  any |= feed_.Read();
  any |= keeper_.Work();
  any |= statuses_.Work();
  any |= cidrs_.Work();
  any |= replica_.Work();
  fences_.Work();
  if (const std::optional<int64_t> told = feed_.Told()) {
    any |= collector_.Work(*told);
    any |= terminator_.Work();
  }
  return any;
}

base::SteadyTime Controllers::NextDue() const {
  // What waits for changes to be read, or for room, is woken by these.
  if (!writer_.HasRoom()) return feed_.NextDue();
  const base::SteadyTime due = std::min({feed_.NextDue(), keeper_.NextDue(), statuses_.NextDue(),
                                         cidrs_.NextDue(), fences_.NextDue(), replica_.NextDue()});
  if (!feed_.Told()) return due;
  return std::min({due, collector_.NextDue(), terminator_.NextDue()});
}

}  // namespace berth::controllers
