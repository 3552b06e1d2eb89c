#include "controllers/auditor.h"

#include <algorithm>
#include <utility>

#include "allocation/audit/snapshot_pass.h"

namespace berth::controllers {
namespace {

/// The longest single wait, so that a time that never comes does not overflow.
constexpr std::chrono::hours kLongestWait{1};

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

Auditor::Auditor(Parts parts, std::chrono::nanoseconds interval, const base::SeededRandom& random)
    : parts_(std::move(parts)),
      interval_(interval),
      follow_up_(parts_.follow_up, random),
      due_(interval_.count() == 0 ? base::SteadyTime::max() : parts_.follow_up.clock.Steady()) {}

Auditor::~Auditor() { Stop(); }

void Auditor::Start() {
  {
    base::MutexLock lock(mutex_);
    quick_until_ = parts_.follow_up.clock.Steady() + kQuickStart;
  }
  thread_ = std::thread([this] { Run(); });
}

void Auditor::Stop() {
  {
    base::MutexLock lock(mutex_);
    stop_ = true;
    wake_.NotifyAll();
    passed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Auditor::AwaitFirst(std::chrono::nanoseconds limit) {
  const base::SteadyTime end = parts_.follow_up.clock.Steady() + limit;
  base::MutexLock lock(mutex_);
  if (interval_.count() == 0) return;
  while (status_.passes == 0 && !stop_) {
    const base::SteadyTime now = parts_.follow_up.clock.Steady();
    if (now >= end) return;
    passed_.WaitFor(mutex_, end - now);
  }
}

uint64_t Auditor::Ask() {
  base::MutexLock lock(mutex_);
  asked_ = status_.passes + (status_.running ? 2 : 1);
  wake_.NotifyAll();
  return asked_;
}

Auditor::Status Auditor::GetStatus() const {
  base::MutexLock lock(mutex_);
  return status_;
}

base::SteadyTime Auditor::NextDue() const {
  base::MutexLock lock(mutex_);
  return std::max(not_before_, asked_ > status_.passes ? base::SteadyTime::min() : due_);
}

void Auditor::Run() {
  for (;;) {
    Work();
    const base::SteadyTime due = NextDue();
    const base::SteadyTime now = parts_.follow_up.clock.Steady();
    if (!Sleep(due <= now ? std::chrono::nanoseconds(0)
                          : std::min<std::chrono::nanoseconds>(
                                kLongestWait, due == base::SteadyTime::max()
                                                  ? std::chrono::nanoseconds(kLongestWait)
                                                  : due - now))) {
      return;
    }
  }
}

bool Auditor::Sleep(std::chrono::nanoseconds time) {
  base::MutexLock lock(mutex_);
  if (!stop_ && time.count() > 0) wake_.WaitFor(mutex_, time);
  return !stop_;
}

double Auditor::Share() const {
  base::MutexLock lock(mutex_);
  if (parts_.follow_up.clock.Steady() < quick_until_) return 1;
  if (asked_ > status_.passes) return kShareIfAsked;
  return status_.passes == 0 ? kShareAtFirst : kShare;
}

bool Auditor::Work() {
  const base::SteadyTime begin = parts_.follow_up.clock.Steady();
  if (begin < NextDue()) return false;
  if (!parts_.follower.Ready()) {
    base::MutexLock lock(mutex_);
    not_before_ = begin + kUnreadPause;
    return false;
  }
  {
    base::MutexLock lock(mutex_);
    status_.running = true;
  }
  Pacer pacer({.cpu_time = parts_.cpu_time,
               .share = [this] { return Share(); },
               .sleep = [this](std::chrono::nanoseconds time) { return Sleep(time); }});
  const state::SnapshotPtr snapshot = parts_.follower.Current();
  auto report = allocation::TryAuditSnapshot(parts_.follow_up.registry.GetKinds(), *snapshot,
                                             parts_.follower.Undecodable(audit::kMaxFindings),
                                             [&pacer] { return pacer.Step(); });
  if (!report) return false;
  auto outcome = follow_up_.Take(*std::move(report), *snapshot, [this] { return Sleep({}); });
  Finish(std::move(outcome), begin, pacer.Worked());
  return true;
}

void Auditor::Finish(AuditFollowUp::Outcome outcome, base::SteadyTime begin,
                     std::chrono::nanoseconds cpu_time) {
  const base::SteadyTime now = parts_.follow_up.clock.Steady();
  const auto report = std::make_shared<const audit::Report>(std::move(outcome.report));
  if (obs::AuditorMetrics* metrics = parts_.follow_up.metrics) {
    metrics->Set({.revision = report->revision,
                  .clean = report->IsClean(),
                  .seconds = Seconds(now - begin),
                  .cpu_seconds = Seconds(cpu_time),
                  .finished_at = Seconds(parts_.follow_up.clock.Now().time_since_epoch()),
                  .checked = {{"services", report->checked.services},
                              {"values", report->checked.values},
                              {"records", report->checked.records},
                              {"bits", report->checked.bits},
                              {"ranges", report->checked.ranges}},
                  .findings = {report->counts.begin(), report->counts.end()}});
  }
  base::MutexLock lock(mutex_);
  if (interval_.count() > 0) due_ = outcome.more ? now : begin + interval_;
  status_ = {.passes = status_.passes + 1,
             .finished = parts_.follow_up.clock.Now(),
             .took = now - begin,
             .cpu_time = cpu_time,
             .report = report};
  passed_.NotifyAll();
}

}  // namespace berth::controllers
