// Periodic work: checks whether etcd can be reached, keeps the lease of the epoch alive, tries
// whether writes work again, compacts, and deletes what processes that died have left.
//
// Threads: one of its own; it waits for etcd.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "store/etcd/compactor.h"
#include "store/etcd/epoch.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/ticker.h"

namespace berth::store::etcd {

/// Deletes the receipts of processes whose epoch key has been missing for long. Such a process can
/// no longer commit anything. If it is alive after all, it learns that outcomes cannot be known
/// (resolver.h).
class Tidier {
 public:
  static constexpr std::chrono::minutes kPatience{15};

  /// `own` is the epoch key of this process, which is left alone. `context` must outlive the
  /// object.
  Tidier(const Context& context, std::string own) : context_(context), own_(std::move(own)) {}

  /// Does one round. Waits for etcd. The next round repeats what fails.
  void Round();

 private:
  void Remove(const std::string& epoch_key);

  const Context& context_;
  const std::string own_;
  /// Epoch keys that are missing although they have receipts, and since when.
  std::map<std::string, base::SteadyTime> orphans_;
};

class Housekeeper {
 public:
  /// An interval of 0 leaves compaction to another process. `keep_note` is called every round. The
  /// arguments must outlive the object.
  Housekeeper(const Context& context, Epoch& epoch, Ticker& ticker,
              std::chrono::seconds compact_interval, std::function<void(Revision)> compacted,
              std::function<void()> keep_note);
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

  /// Ends the thread. The context's `stop` must be set.
  void End();

 private:
  void Run();
  void Probe();

  const Context& context_;
  Epoch& epoch_;
  Ticker& ticker_;
  const std::chrono::seconds compact_interval_;
  Compactor compactor_;
  Tidier tidier_;
  const std::function<void()> keep_note_;

  base::Mutex mutex_;
  base::CondVar wake_;
  std::thread thread_;
};

}  // namespace berth::store::etcd
