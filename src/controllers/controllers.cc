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

/// Without work in progress, changes are read together and not each as it comes. Most of them do
/// not concern the controllers, and waking up for one costs as much as for a hundred.
constexpr std::chrono::milliseconds kGather{5};

}  // namespace

Controllers::Controllers(const Parts& parts, const base::SeededRandom& random)
    : clock_(parts.clock),
      wake_(std::make_shared<Wake>()),
      writer_(parts.registry, wake_, kWritesAtOnce),
      context_{parts.registry, parts.follower, writer_, wake_, parts.clock, parts.log},
      collector_(context_),
      terminator_(context_, random),
      keeper_(context_, parts.ledger, parts.secure_port),
      status_job_(context_, kRangeStatusJob, parts.replica.id, parts.job_lease_lasts),
      statuses_(context_, parts.ledger, status_job_, parts.findings),
      cidrs_(context_, parts.ledger),
      takeover_(context_, parts.ledger, parts.allocator.Ranges(), parts.asked_cidrs,
                [this] { keeper_.Hurry(); }),
      fences_(context_, parts.allocator.Ranges()),
      replica_(context_, parts.replica),
      endpoints_(context_, parts.replica),
      namespaces_(context_),
      feed_(parts.follower, parts.registry.GetResources(), parts.hub,
            {&collector_, &terminator_, &statuses_, &replica_, &endpoints_, &namespaces_}, wake_,
            parts.clock, parts.log) {}

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
  any |= status_job_.Work();
  any |= statuses_.Work();
  any |= cidrs_.Work();
  any |= takeover_.Work();
  any |= replica_.Work();
  any |= endpoints_.Work();
  any |= namespaces_.Work();
  fences_.Work();
  if (const std::optional<int64_t> reported = feed_.ReportedUpTo()) {
    any |= collector_.Work(*reported);
    any |= terminator_.Work();
  }
  return any;
}

base::SteadyTime Controllers::NextDue() const {
  // Work that waits for changes, or for room for a write, is woken by these.
  if (!writer_.HasRoom()) return feed_.NextDue();
  const base::SteadyTime due =
      std::min({feed_.NextDue(), keeper_.NextDue(), status_job_.NextDue(), statuses_.NextDue(),
                cidrs_.NextDue(), takeover_.NextDue(), fences_.NextDue(), replica_.NextDue(),
                endpoints_.NextDue(), namespaces_.NextDue()});
  if (!feed_.ReportedUpTo()) return due;
  return std::min({due, collector_.NextDue(), terminator_.NextDue()});
}

}  // namespace berth::controllers
