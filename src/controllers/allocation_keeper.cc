#include "controllers/allocation_keeper.h"

#include <utility>

namespace berth::controllers {
namespace {

constexpr std::chrono::milliseconds kAskEvery{500};

}  // namespace

AllocationKeeper::AllocationKeeper(const allocation::BitmapRepairer::Parts& parts,
                                   const base::SeededRandom& random)
    : parts_(parts),
      rows_(allocation::RecordRowsOf(parts.registry.GetKinds())),
      switch_({.registry = parts.registry,
               .follower = parts.follower,
               .ledger = parts.ledger,
               .clock = parts.clock,
               .run = parts.run,
               .gates = parts.gates},
              random),
      repairer_(parts, random),
      repair_due_(parts.clock.Steady() + kRepairEvery) {}

AllocationKeeper::~AllocationKeeper() { Stop(); }

void AllocationKeeper::Start() {
  thread_ = std::thread([this] { Run(); });
}

void AllocationKeeper::Stop() {
  {
    base::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

bool AllocationKeeper::Ask(const Request& request) {
  base::MutexLock lock(mutex_);
  if (status_.running || stop_) return false;
  status_.running = true;
  status_.last.reset();
  status_.phase.clear();
  status_.done = 0;
  status_.total = 0;
  asked_ = request;
  wake_.NotifyAll();
  return true;
}

AllocationKeeper::Status AllocationKeeper::GetStatus() const {
  base::MutexLock lock(mutex_);
  Status status = status_;
  status.note = allocation::FormIn(rows_, *parts_.follower.Current());
  return status;
}

void AllocationKeeper::Run() {
  for (;;) {
    std::optional<Request> request;
    {
      base::MutexLock lock(mutex_);
      if (!stop_ && !asked_) wake_.WaitFor(mutex_, kAskEvery);
      if (stop_) return;
      request = std::exchange(asked_, std::nullopt);
    }
    if (request) {
      Switch(*request);
    } else {
      Look();
    }
  }
}

bool AllocationKeeper::Tell(const allocation::FormSwitch::Step& step) {
  base::MutexLock lock(mutex_);
  status_.phase = step.phase;
  status_.done = step.done;
  status_.total = step.total;
  return !stop_;
}

void AllocationKeeper::Switch(const Request& request) {
  auto report = switch_.Run(
      {.to = request.to,
       .force = request.force,
       .progress = [this](const allocation::FormSwitch::Step& step) { return Tell(step); }});
  if (report && report->changed) {
    parts_.log.Info("allocations are kept in another form",
                    {{"form", std::string(allocation::FormText(request.to))},
                     {"filled", static_cast<int64_t>(report->filled)},
                     {"removed", static_cast<int64_t>(report->removed)}});
    // Services with values that were left out get their events now.
    repair_due_ = parts_.clock.Steady();
  }
  base::MutexLock lock(mutex_);
  status_.running = false;
  status_.last = std::move(report);
}

void AllocationKeeper::Look() {
  FinishWhatIsLeft();
  const bool due = parts_.clock.Steady() >= repair_due_;
  const bool asked = repair_asked_.exchange(false);
  if (!due && !asked && !repairer_.IsUrgent()) return;
  if (due) repair_due_ = parts_.clock.Steady() + kRepairEvery;
  if (const auto passed = repairer_.Pass(); !passed) {
    parts_.log.Warn("bitmaps cannot be repaired", {{"why", passed.error().message}});
  }
}

/// Finishes a switch if the server that began it no longer works on it.
void AllocationKeeper::FinishWhatIsLeft() {
  const state::SnapshotPtr snapshot = parts_.follower.Current();
  const allocation::FormNote note = allocation::FormIn(rows_, *snapshot);
  const auto to = allocation::FormSwitch::Unfinished(note);
  if (!to) return;
  const base::WallTime heard = switch_.LastHeardOf(*snapshot);
  if (parts_.clock.Now() - heard < kPatience) return;
  parts_.log.Info("a switch of the form of allocations that was left unfinished goes on",
                  {{"to", std::string(allocation::FormText(*to))}});
  const auto report = switch_.Run(
      {.to = *to,
       .force = note.force,
       .progress = [this](const allocation::FormSwitch::Step& step) { return Tell(step); }});
  if (!report) {
    parts_.log.Warn("the switch cannot be finished", {{"why", report.error().message}});
  }
}

}  // namespace berth::controllers
