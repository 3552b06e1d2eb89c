// The implementation of the follower: the work of its writing thread (follower_apply.cc) and the
// callbacks that wait for it (follower.cc). Internal to state/follower.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "state/follower.h"
#include "state/text_map.h"

namespace berth::state {

class Follower::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(store::Engine& engine, const Resources& resources, std::vector<Listener*> listeners,
       FollowerOptions options, const base::Clock& clock, base::Logger& log);

  void Start();
  void Stop();
  bool Pump();

  bool WaitReady(std::chrono::nanoseconds limit) const;
  SnapshotPtr Current() const;
  void AwaitRevision(int64_t revision, base::SteadyTime deadline, Await done);
  void CatchUp(base::SteadyTime deadline, Await done);
  void Expect(ExpectationPtr expectation);
  void Forget(const ExpectationPtr& expectation);
  void RunAt(base::SteadyTime at, std::function<void()> call);

 private:
  friend class Follower;

  struct Waiter {
    Await done = {};
    base::SteadyTime deadline = {};
  };
  using Waiters = std::multimap<int64_t, Waiter>;  // By revision.
  struct Catcher {
    Await done = {};
    base::SteadyTime deadline = {};
  };
  /// A page that has been requested from the store.
  struct PageSlot {
    base::Mutex mutex;
    base::CondVar come;
    std::optional<base::Result<store::ScanPage>> page GUARDED_BY(mutex);
  };

  // Called on the writing thread.
  void Run();
  void WaitForWork();
  bool Load();
  base::Result<SnapshotPtr> ReadStore(const Snapshot& before);
  std::shared_ptr<PageSlot> RequestPage(store::ScanRequest request);
  base::Result<store::ScanPage> WaitForPage(PageSlot& slot);
  void Lost(const base::Error& error);
  bool Follow();
  void Apply(const store::WatchBatch& batch);
  std::optional<Change> ApplyEvent(const store::Event& event);
  ObjectPtr MakeObject(const Identity& identity, std::string_view value, int64_t revision);
  ObjectPtr TakeExpected(const Identity& identity, std::string_view value, int64_t revision);
  void MeetDelete(const std::string& key, int64_t before, int64_t revision);
  void MissExpected();
  void NoteUndecodable(std::string_view key, const base::Error& error);
  void Publish(SnapshotPtr snapshot);
  void Told(int64_t revision, size_t events);

  // Callbacks, timers and deadlines.
  bool RunDue();
  void AskProgress();
  base::SteadyTime NextDue() const REQUIRES(mutex_);
  bool TooMany() const REQUIRES(mutex_);
  std::optional<base::Error> Refusal() const EXCLUDES(mutex_);
  void Wake();
  void WakeIfDueBefore(base::SteadyTime at) REQUIRES(mutex_);
  void AskStore(std::vector<Catcher> catchers);

  store::Engine& engine_;
  const Resources& resources_;
  const std::vector<Listener*> listeners_;
  const FollowerOptions options_;
  const base::Clock& clock_;
  base::Logger& log_;

  // Used by the writing thread only.
  std::optional<SnapshotBuilder> builder_;
  std::unique_ptr<store::Watch> watch_;  // Null while the whole store has to be read.
  base::SteadyTime load_at_ = base::SteadyTime::min();
  std::thread thread_;
  std::atomic<bool> stopping_ = false;

  mutable base::Mutex mutex_;
  base::CondVar work_;
  mutable base::CondVar became_ready_;
  bool woken_ GUARDED_BY(mutex_) = false;
  base::SteadyTime sleeps_until_ GUARDED_BY(mutex_) = base::SteadyTime::min();
  bool stopped_ GUARDED_BY(mutex_) = false;
  bool ready_ GUARDED_BY(mutex_) = false;
  SnapshotPtr current_ GUARDED_BY(mutex_) = std::make_shared<const Snapshot>();
  // Revision up to which listeners have been notified, or -1 before the first snapshot.
  int64_t told_ GUARDED_BY(mutex_) = -1;
  Waiters waiters_ GUARDED_BY(mutex_);
  /// Deadlines of the waiters that have one.
  std::multimap<base::SteadyTime, Waiters::iterator> deadlines_ GUARDED_BY(mutex_);
  std::multimap<base::SteadyTime, std::function<void()>> timers_ GUARDED_BY(mutex_);
  std::optional<base::SteadyTime> ask_progress_at_ GUARDED_BY(mutex_);
  std::vector<Catcher> catchers_ GUARDED_BY(mutex_);  // Wait until the store is asked again.
  bool asking_ GUARDED_BY(mutex_) = false;
  TextMap<std::string> undecodable_ GUARDED_BY(mutex_);  // With the reasons.
  Stats stats_ GUARDED_BY(mutex_);

  base::Mutex expected_mutex_;
  TextMap<ExpectationPtr> expected_ GUARDED_BY(expected_mutex_);
};

}  // namespace berth::state
