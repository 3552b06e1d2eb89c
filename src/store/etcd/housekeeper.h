// What has to be done now and then: looking whether etcd is there, keeping the fence's lease alive,
// trying whether writes go again, compacting, and tidying up after processes that died.
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
#include "store/etcd/context.h"
#include "store/etcd/fence.h"
#include "store/etcd/ticker.h"

namespace berth::store::etcd {

/// Removes the receipts of processes whose fence has been gone for long. Such a process can no
/// longer commit anything, and if it lives after all it learns that it cannot know (resolver.h).
class Tidier {
 public:
  static constexpr std::chrono::minutes kPatience{15};

  /// `own` is the fence key to leave alone. `context` must outlive it.
  Tidier(const Context& context, std::string own) : context_(context), own_(std::move(own)) {}

  /// Waits for etcd. What fails is tried again by the next.
  void Round();

 private:
  void Remove(const std::string& fence);

  const Context& context_;
  const std::string own_;
  std::map<std::string, base::SteadyTime> orphans_;  // By fence key: seen without it since.
};

class Housekeeper {
 public:
  /// An interval of 0 leaves compaction to somebody else. The others must outlive it.
  Housekeeper(const Context& context, Fence& fence, Ticker& ticker,
              std::chrono::seconds compact_interval, std::function<void(Revision)> compacted);
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

  /// Ends it; the context's `stop` must be set.
  void End();

 private:
  void Run();
  void Probe();

  const Context& context_;
  Fence& fence_;
  Ticker& ticker_;
  const std::chrono::seconds compact_interval_;
  Compactor compactor_;
  Tidier tidier_;

  base::Mutex mutex_;
  base::CondVar wake_;
  std::thread thread_;
};

}  // namespace berth::store::etcd
