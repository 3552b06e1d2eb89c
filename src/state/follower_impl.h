// The follower's insides: what its writing thread does (follower_apply.cc) and what waits for it
// (follower.cc). Internal to state/follower.
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
  /// One page on its way.
  struct PageSlot {
    base::Mutex mutex;
    base::CondVar come;
    std::optional<base::Result<store::ScanPage>> page GUARDED_BY(mutex);
  };

  // The writing thread.
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

  // What waits.
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

  // The writing thread's.
  std::optional<SnapshotBuilder> builder_;
  std::unique_ptr<store::Watch> watch_;  // Null: the store is to be read.
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
  int64_t told_ GUARDED_BY(mutex_) = -1;  // Listeners have been told up to here; -1: of nothing.
  Waiters waiters_ GUARDED_BY(mutex_);
  /// Of those that have one.
  std::multimap<base::SteadyTime, Waiters::iterator> deadlines_ GUARDED_BY(mutex_);
  std::multimap<base::SteadyTime, std::function<void()>> timers_ GUARDED_BY(mutex_);
  std::optional<base::SteadyTime> ask_progress_at_ GUARDED_BY(mutex_);
  std::vector<Catcher> catchers_ GUARDED_BY(mutex_);  // Wait for the next question.
  bool asking_ GUARDED_BY(mutex_) = false;
  TextSet undecodable_ GUARDED_BY(mutex_);
  Stats stats_ GUARDED_BY(mutex_);

  base::Mutex expected_mutex_;
  TextMap<ExpectationPtr> expected_ GUARDED_BY(expected_mutex_);
};

}  // namespace berth::state
