// The auditor: checks again and again, on one snapshot at a time, that what the store says about
// addresses and ports agrees (src/audit), and acts on what it finds
// (controllers/audit_follow_up.h). Every server runs one. It holds no lock while it works.
//
// A pass works in slices of a millisecond with pauses between them, so that it uses at most a small
// share of one core; the first one, and one that was asked for, may use more. A pass over a few
// thousand Services takes well below a second, and one over a million some minutes. The next pass
// begins when the interval has passed since the begin of the last one, or at once if the pass took
// longer.
//
// Threads: Start and Stop from one thread, once each. A simulation that decides when things happen
// calls Work instead, from one thread. All other functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "audit/finding.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "controllers/audit_follow_up.h"
#include "controllers/pacer.h"
#include "registry/registry.h"
#include "state/follower.h"

namespace berth::controllers {

class Auditor {
 public:
  struct Parts {
    state::Follower& follower;
    AuditFollowUp::Parts follow_up;
    /// Returns the processor time of the calling thread.
    std::function<std::chrono::nanoseconds()> cpu_time = ThreadCpuTime;
  };
  /// With an interval of 0, passes run only if they are asked for.
  Auditor(Parts parts, std::chrono::nanoseconds interval, const base::SeededRandom& random);
  ~Auditor();
  Auditor(const Auditor&) = delete;
  Auditor& operator=(const Auditor&) = delete;

  /// Starts the thread. For the first second it works without pauses.
  void Start() EXCLUDES(mutex_);
  /// Stops the thread. A pass in progress is given up.
  void Stop() EXCLUDES(mutex_);
  /// Waits for the first pass, at most for `limit`. Returns at once if there are no passes unless
  /// asked for.
  void AwaitFirst(std::chrono::nanoseconds limit) EXCLUDES(mutex_);

  /// Asks for a pass that begins after this call. Returns its number.
  uint64_t Ask() EXCLUDES(mutex_);

  struct Status {
    uint64_t passes = 0;  // Completed ones. The last one's number.
    bool running = false;
    base::WallTime finished = {};  // When the last pass ended.
    std::chrono::nanoseconds took{0};
    std::chrono::nanoseconds cpu_time{0};
    std::shared_ptr<const audit::Report> report = {};  // Of the last pass. Null before the first.
  };
  Status GetStatus() const EXCLUDES(mutex_);

  /// Runs a pass on the calling thread if one is due. Returns whether it ran.
  bool Work() EXCLUDES(mutex_);
  base::SteadyTime NextDue() const EXCLUDES(mutex_);

  /// The share of one core that passes use.
  static constexpr double kShare = 0.025;
  /// The share of the first pass, which may begin with much to repair.
  static constexpr double kShareAtFirst = 0.2;
  /// The share of a pass that was asked for.
  static constexpr double kShareIfAsked = 0.5;
  /// How often it looks whether the state has been read, while it cannot work without.
  static constexpr std::chrono::milliseconds kUnreadPause{100};
  /// How long it works without pauses after the start.
  static constexpr std::chrono::seconds kQuickStart{1};

 private:
  void Run() EXCLUDES(mutex_);
  void Finish(AuditFollowUp::Outcome outcome, base::SteadyTime begin,
              std::chrono::nanoseconds cpu_time) EXCLUDES(mutex_);
  double Share() const EXCLUDES(mutex_);
  /// Returns false if the thread must stop.
  bool Sleep(std::chrono::nanoseconds time) EXCLUDES(mutex_);

  const Parts parts_;
  const std::chrono::nanoseconds interval_;
  AuditFollowUp follow_up_;

  mutable base::Mutex mutex_;
  base::CondVar wake_;
  base::CondVar passed_;
  bool stop_ GUARDED_BY(mutex_) = false;
  uint64_t asked_ GUARDED_BY(mutex_) = 0;  // The number of the last pass that was asked for.
  base::SteadyTime due_ GUARDED_BY(mutex_);
  base::SteadyTime not_before_ GUARDED_BY(mutex_) = {};  // While the state is being read.
  base::SteadyTime quick_until_ GUARDED_BY(mutex_) = {};
  Status status_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace berth::controllers
