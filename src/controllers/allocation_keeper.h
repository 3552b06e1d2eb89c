// Maintains the form of allocations (allocation/allocation_forms.h) on a thread of its own. It
// switches the form when an operator asks for that, finishes a switch that was left unfinished, and
// repairs bitmaps every three minutes and whenever one is missing.
//
// Threads: Start and Stop from one thread, once each. All other functions may be called from any
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "allocation/forms/bitmap_repairer.h"
#include "allocation/forms/form_switch.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace berth::controllers {

class AllocationKeeper {
 public:
  AllocationKeeper(const allocation::BitmapRepairer::Parts& parts,
                   const base::SeededRandom& random);
  ~AllocationKeeper();
  AllocationKeeper(const AllocationKeeper&) = delete;
  AllocationKeeper& operator=(const AllocationKeeper&) = delete;

  void Start();
  /// Stops the thread. A switch in progress stays unfinished until the next start.
  void Stop() EXCLUDES(mutex_);

  /// Runs the first pass of the repair and returns its result. Must be called before Start.
  base::Result<void> FirstPass() { return repairer_.Pass(); }

  struct Request {
    allocation::AllocationForm to = allocation::AllocationForm::kRecords;
    bool force = false;
  };
  /// Asks for a switch. Returns false if another one is in progress.
  bool Ask(const Request& request) EXCLUDES(mutex_);

  /// Asks for a pass of the repair soon.
  void AskRepair() { repair_asked_ = true; }

  struct Status {
    allocation::FormNote note = {};
    bool running = false;  // Whether a switch that was asked for here is in progress.
    std::string phase = {};
    uint64_t done = 0;
    uint64_t total = 0;
    /// The result of the last switch that was asked for here. Nullopt if there was none or it is in
    /// progress.
    std::optional<base::Result<allocation::FormSwitch::Report>> last = {};
  };
  Status GetStatus() const EXCLUDES(mutex_);

  /// If the server that works on a switch has written nothing for so long, another server takes
  /// over.
  static constexpr std::chrono::seconds kPatience{15};
  static constexpr std::chrono::minutes kRepairEvery{3};

 private:
  void Run() EXCLUDES(mutex_);
  void Look() EXCLUDES(mutex_);
  void Switch(const Request& request) EXCLUDES(mutex_);
  void FinishWhatIsLeft();
  bool Tell(const allocation::FormSwitch::Step& step) EXCLUDES(mutex_);

  const allocation::BitmapRepairer::Parts parts_;
  const allocation::RecordRows rows_;
  allocation::FormSwitch switch_;
  allocation::BitmapRepairer repairer_;
  base::SteadyTime repair_due_;
  std::atomic<bool> repair_asked_ = false;

  mutable base::Mutex mutex_;
  base::CondVar wake_;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::optional<Request> asked_ GUARDED_BY(mutex_);
  Status status_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace berth::controllers
