// How other threads reach an io thread, and how streams wait on signals. Inside the module only.
//
// A Mailbox is one io thread's inbox: answers, wake-ups and calls from anywhere, carried out in
// order on that thread; however many arrive together, the thread is woken once. It outlives its
// thread for as long as a Responder or a Signal knows it; what comes then is dropped.
//
// A WaitSlot is the place where the streams of one io thread wait on one Signal. Its flag is the
// whole agreement: the io thread sets it before it pulls, Notify clears it and, if it was set,
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

/// A stream that waits, as an element of a WaitSlot's list. Io thread only.
class Waiter {
 public:
  Waiter() = default;
  virtual ~Waiter() { Leave(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  /// From here on a Notify of `signal` leads to Woken, once Join has been called too.
  void Arm(Signal* signal, const std::shared_ptr<Mailbox>& mailbox);
  void Join();
  void Leave();

  /// Called after the waiter has left its list.
  virtual void Woken() = 0;

 private:
  friend class WaitSlot;

  std::shared_ptr<WaitSlot> slot_;
  std::shared_ptr<Signal::State> signal_;  // Whose slot it is.
  Waiter* previous_ = nullptr;
  Waiter* next_ = nullptr;
  bool joined_ = false;
};

class WaitSlot {
 public:
  explicit WaitSlot(std::shared_ptr<Mailbox> mailbox) : mailbox_(std::move(mailbox)) {}

  /// Io thread.
  void Arm() {
    if (!armed_.load(std::memory_order_relaxed)) armed_.exchange(true, std::memory_order_acq_rel);
  }
  void WakeAll();

  /// Any thread: whether the io thread has to be told.
  bool Disarm() { return armed_.exchange(false, std::memory_order_acq_rel); }
  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }

 private:
  friend class Waiter;

  const std::shared_ptr<Mailbox> mailbox_;
  std::atomic<bool> armed_{false};
  Waiter* first_ = nullptr;  // Io thread.
};

/// What Signal shares with the io threads.
class Signal::State {
 public:
  std::shared_ptr<WaitSlot> SlotOf(const std::shared_ptr<Mailbox>& mailbox) EXCLUDES(mutex_);
  void Notify() EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  std::vector<std::shared_ptr<WaitSlot>> slots_ GUARDED_BY(mutex_);  // One per io thread.
};

/// The io thread behind a Mailbox. Called on that thread.
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

  /// Answers given on the io thread itself are carried out at once.
  void Finish(StreamKey key, Response response) override;
  void Stream(StreamKey key, Response head, std::unique_ptr<Source> source) override;

  /// Both are dropped once the mailbox is closed.
  void Wake(std::shared_ptr<WaitSlot> slot);
  void Call(std::function<void()> call);
  bool closed() const EXCLUDES(mutex_);

  // --- io thread ---

  /// Says which thread is the io thread.
  void Open() { thread_.store(std::this_thread::get_id(), std::memory_order_relaxed); }
  void RunAll();
  /// Drops what is there and what comes.
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
