// Keeps the form of allocations (registry/allocation_forms.h) in order, on a thread of its own:
// switches it when an operator asks for that, finishes a switch that somebody has left unfinished,
// and repairs bitmaps every three minutes and whenever one is missing.
//
// Threads: Start and Stop from one, once each; the rest from any.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "controllers/bitmap_repairer.h"
#include "controllers/form_switch.h"

namespace berth::controllers {

class AllocationKeeper {
 public:
  AllocationKeeper(const BitmapRepairer::Parts& parts, const base::SeededRandom& random);
  ~AllocationKeeper();
  AllocationKeeper(const AllocationKeeper&) = delete;
  AllocationKeeper& operator=(const AllocationKeeper&) = delete;

  void Start();
  /// What is under way is left unfinished, for the next start.
  void Stop() EXCLUDES(mutex_);

  /// What the first pass of the repair has to say; before the thread is started.
  base::Result<void> FirstPass() { return repairer_.Pass(); }

  struct Request {
    commit::AllocationForm to = commit::AllocationForm::kRecords;
    bool force = false;
  };
  /// False: another one is under way.
  bool Ask(const Request& request) EXCLUDES(mutex_);

  struct Status {
    registry::FormNote note = {};
    bool running = false;  // What was asked for here.
    std::string phase = {};
    uint64_t done = 0;
    uint64_t total = 0;
    /// What came of the last one that was asked for here; nothing: none was, or it is running.
    std::optional<base::Result<FormSwitch::Report>> last = {};
  };
  Status GetStatus() const EXCLUDES(mutex_);

  /// How long nobody may be heard of who works on a switch before somebody else does.
  static constexpr std::chrono::seconds kPatience{15};
  static constexpr std::chrono::minutes kRepairEvery{3};

 private:
  void Run() EXCLUDES(mutex_);
  void Look() EXCLUDES(mutex_);
  void Switch(const Request& request) EXCLUDES(mutex_);
  void FinishWhatIsLeft();
  bool Tell(const FormSwitch::Step& step) EXCLUDES(mutex_);

  const BitmapRepairer::Parts parts_;
  const registry::RecordRows rows_;
  FormSwitch switch_;
  BitmapRepairer repairer_;
  base::SteadyTime repair_due_;

  mutable base::Mutex mutex_;
  base::CondVar wake_;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::optional<Request> asked_ GUARDED_BY(mutex_);
  Status status_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace berth::controllers
