// How other threads reach an io thread, and how streams wait on signals. Internal to the module.
//
// A Mailbox is the inbox of one io thread. It takes answers, wake-ups and calls from any thread and
// carries them out in order on the io thread. However many arrive together, the thread is woken
// once. The mailbox outlives its thread for as long as a Responder or a Signal refers to it, and
// drops everything that arrives then.
//
// A WaitSlot is the place where the streams of one io thread wait on one Signal. Its flag alone
// makes that safe: the io thread sets it before it pulls, and Notify clears it and, if it was set,
// posts one wake-up. Both are read-modify-writes of one atomic, so either the pull sees what was
// published before Notify, or Notify sees the flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "http/responder.h"
#include "http/source.h"

namespace berth::http {

class Mailbox;
class WaitSlot;

/// A link of a circular list. A link alone is an empty list.
class WaitLink {
 public:
  WaitLink() = default;
  WaitLink(const WaitLink&) = delete;
  WaitLink& operator=(const WaitLink&) = delete;

 protected:
  ~WaitLink() = default;

 private:
  friend class Waiter;
  friend class WaitSlot;
  friend class WaitList;

  void InsertBefore(WaitLink& other) {
    previous_ = other.previous_;
    next_ = &other;
    previous_->next_ = this;
    other.previous_ = this;
  }
  void Unlink() {
    previous_->next_ = next_;
    next_->previous_ = previous_;
    previous_ = next_ = this;
  }

  WaitLink* previous_ = this;
  WaitLink* next_ = this;
};

/// The head of a list.
class WaitList final : public WaitLink {};

/// A waiting stream, as an element of a WaitSlot's list. Used on the io thread only.
class Waiter : private WaitLink {
 public:
  Waiter() = default;
  virtual ~Waiter() { Leave(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// From this call on, a Notify of `signal` leads to Woken, if Join is called too.
  void Arm(Signal* signal, const std::shared_ptr<Mailbox>& mailbox);
  void Join();
  void Leave();

  /// Called after the waiter has left its list. The function may let it wait again, and may destroy
  /// it and other waiters.
  virtual void Woken() = 0;

 private:
  friend class WaitSlot;

  std::shared_ptr<WaitSlot> slot_;
  std::shared_ptr<Signal::State> signal_;  // The signal of the slot.
};

class WaitSlot {
 public:
  explicit WaitSlot(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}

  /// Called on the io thread.
  void Arm() {
    if (!armed_.load(std::memory_order_relaxed)) armed_.exchange(true, std::memory_order_acq_rel);
  }
  void WakeAll();

  /// Returns whether the io thread has to be woken. May be called from any thread.
  bool Disarm() { return armed_.exchange(false, std::memory_order_acq_rel); }
  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }

 private:
  friend class Waiter;

  const std::shared_ptr<Mailbox> mailbox_;
  std::atomic<bool> armed_{false};
  WaitList waiting_;  // Used on the io thread only.
};

/// The part of a Signal that the io threads share.
class Signal::State {
 public:
  std::shared_ptr<WaitSlot> SlotOf(const std::shared_ptr<Mailbox>& mailbox) EXCLUDES(mutex_);
  void Notify() EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  std::vector<std::shared_ptr<WaitSlot>> slots_ GUARDED_BY(mutex_);  // One per io thread.
};

/// The io thread of a Mailbox. Its functions are called on that thread.
class MailboxOwner {
 public:
  virtual ~MailboxOwner() = default;
  virtual void OnFinish(StreamKey key, Response response) = 0;
  virtual void OnStream(StreamKey key, Response head, std::unique_ptr<Source> source) = 0;
};

class Mailbox final : public AnswerSink {
 public:
  /// `schedule` makes the io thread call RunAll soon. It is called from any thread, under a lock.
  Mailbox(MailboxOwner& owner, std::function<void()> schedule)
      : owner_(owner), schedule_(std::move(schedule)) {}

  /// Carries out the answer at once if called on the io thread.
  void Finish(StreamKey key, Response response) override;
  void Stream(StreamKey key, Response head, std::unique_ptr<Source> source) override;

  /// Wake and Call do nothing once the mailbox is closed.
  void Wake(std::shared_ptr<WaitSlot> slot);
  void Call(std::function<void()> call);
  bool closed() const EXCLUDES(mutex_);

  // --- io thread ---

  /// Makes the calling thread the io thread.
  void Open() { thread_.store(std::this_thread::get_id(), std::memory_order_relaxed); }
  void RunAll();
  /// Drops everything that waits and everything that arrives later.
  void Close();

 private:
  struct FinishTask {
    StreamKey key;
    Response response;
  };
  struct StreamTask {
    StreamKey key;
    Response head;
    std::unique_ptr<Source> source;
  };
  using Task =
      std::variant<FinishTask, StreamTask, std::shared_ptr<WaitSlot>, std::function<void()>>;

  void Post(Task task) EXCLUDES(mutex_);
  void Run(Task& task);
  bool OnOwnThread() const {
    return thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  MailboxOwner& owner_;  // Only used on its thread and before Close.
  const std::function<void()> schedule_;
  std::atomic<std::thread::id> thread_{};

  mutable base::Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  bool scheduled_ GUARDED_BY(mutex_) = false;
  std::vector<Task> tasks_ GUARDED_BY(mutex_);
};

}  // namespace berth::http
