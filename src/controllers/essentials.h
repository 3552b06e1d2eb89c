// What serving needs and the server itself makes: the note of the form of allocations, the fences
// of the pools, the first ranges and the first namespaces. Another program may delete them from a
// store that is shared, or write there what cannot be decoded. This header finds that, and makes
// again what is gone, as the next start would do. What cannot be decoded is left to a person.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "controllers/bootstrap.h"
#include "registry/registry.h"
#include "state/follower.h"

namespace berth::controllers {

struct LostEssential {
  std::string key;
  /// Set if a value is stored under the key and cannot be decoded.
  bool undecodable = false;

  /// Returns a sentence for an operator.
  std::string Text() const;
};

/// Returns the first that is lost, or nullopt if none is. A range that clients have deleted while
/// another one serves is not lost. Safe from any thread.
std::optional<LostEssential> FindLost(const registry::Registry& registry,
                                      const state::Follower& follower);

/// Makes lost essentials again, on a thread of its own.
///
/// Threads: Start, AskToStop and Stop from one thread.
class EssentialsKeeper {
 public:
  /// What the parts refer to must outlive it.
  EssentialsKeeper(BootstrapParts parts, BootstrapOptions options);
  ~EssentialsKeeper();
  EssentialsKeeper(const EssentialsKeeper&) = delete;
  EssentialsKeeper& operator=(const EssentialsKeeper&) = delete;

  void Start();
  /// Asks the thread to end. It may wait for a write, which ends when the sequencer is closed.
  void AskToStop() EXCLUDES(mutex_);
  /// Waits until the thread has ended.
  void Stop() EXCLUDES(mutex_);

 private:
  void Run() EXCLUDES(mutex_);
  void Look();

  const BootstrapParts parts_;
  const BootstrapOptions options_;
  std::string last_failure_;  // Is logged once.
  base::Mutex mutex_;
  base::CondVar wake_;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace berth::controllers
