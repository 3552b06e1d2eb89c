#include "http/mailbox.h"

#include <utility>

namespace berth::http {

// --- Waiter, WaitSlot ----------------------------------------------------------------------------

void Waiter::Arm(Signal* signal, const std::shared_ptr<Mailbox>& mailbox) {
  // Compares plain pointers, since copying the shared_ptr here would slow down all other io
  // threads.
  Signal::State* const state = signal == nullptr ? nullptr : signal->state().get();
  if (state != signal_.get()) {
    Leave();
    slot_ = state == nullptr ? nullptr : state->SlotOf(mailbox);
    signal_ = state == nullptr ? nullptr : signal->state();
  }
  if (slot_ != nullptr) slot_->Arm();
}

void Waiter::Join() {
  if (next_ == this && slot_ != nullptr) InsertBefore(slot_->waiting_);
}

void Waiter::Leave() { Unlink(); }

void WaitSlot::WakeAll() {
  // Waiters that wait again at once join the slot's list and are not woken again now.
  WaitList woken;
  if (waiting_.next_ == &waiting_) return;
  woken.InsertBefore(waiting_);
  waiting_.Unlink();
  while (woken.next_ != &woken) {
    auto* const waiter = static_cast<Waiter*>(woken.next_);
    waiter->Leave();
    waiter->Woken();
  }
}

// --- Signal --------------------------------------------------------------------------------------

std::shared_ptr<WaitSlot> Signal::State::SlotOf(const std::shared_ptr<Mailbox>& mailbox) {
  base::MutexLock lock(mutex_);
  for (const auto& slot : slots_) {
    if (slot->mailbox() == mailbox) return slot;
  }
  // Removes the slots of io threads that have ended.
  std::erase_if(slots_, [](const auto& slot) { return slot->mailbox()->closed(); });
  slots_.push_back(std::make_shared<WaitSlot>(mailbox));
  return slots_.back();
}

void Signal::State::Notify() {
  base::MutexLock lock(mutex_);
  for (const auto& slot : slots_) {
    if (slot->Disarm()) slot->mailbox()->Wake(slot);
  }
}

Signal::Signal() : state_(std::make_shared<State>()) {}
Signal::~Signal() = default;

void Signal::Notify() { state_->Notify(); }

// --- Mailbox -------------------------------------------------------------------------------------

void Mailbox::Finish(StreamKey key, Response response) {
  if (OnOwnThread()) {
    owner_.OnFinish(key, std::move(response));
  } else {
    Post(FinishTask{.key = key, .response = std::move(response)});
  }
}

void Mailbox::Stream(StreamKey key, Response head, std::unique_ptr<Source> source) {
  if (OnOwnThread()) {
    owner_.OnStream(key, std::move(head), std::move(source));
  } else {
    Post(StreamTask{.key = key, .head = std::move(head), .source = std::move(source)});
  }
}

void Mailbox::Wake(std::shared_ptr<WaitSlot> slot) { Post(std::move(slot)); }

void Mailbox::Call(std::function<void()> call) { Post(std::move(call)); }

bool Mailbox::closed() const {
  base::MutexLock lock(mutex_);
  return closed_;
}

void Mailbox::Post(Task task) {
  base::MutexLock lock(mutex_);
  if (closed_) {
    lock.Unlock();  // Dropped calls may hold anything, so they are destroyed without the lock.
    return;
  }
  tasks_.push_back(std::move(task));
  if (scheduled_) return;
  scheduled_ = true;
  schedule_();
}

void Mailbox::RunAll() {
  std::vector<Task> tasks;
  {
    base::MutexLock lock(mutex_);
    tasks.swap(tasks_);
    scheduled_ = false;
  }
  for (Task& task : tasks) Run(task);
}

void Mailbox::Run(Task& task) {
  if (auto* finish = std::get_if<FinishTask>(&task)) {
    owner_.OnFinish(finish->key, std::move(finish->response));
  } else if (auto* stream = std::get_if<StreamTask>(&task)) {
    owner_.OnStream(stream->key, std::move(stream->head), std::move(stream->source));
  } else if (auto* slot = std::get_if<std::shared_ptr<WaitSlot>>(&task)) {
    (*slot)->WakeAll();
  } else {
    std::get<std::function<void()>>(task)();
  }
}

void Mailbox::Close() {
  std::vector<Task> dropped;
  {
    base::MutexLock lock(mutex_);
    closed_ = true;
    dropped.swap(tasks_);
  }
  // A thread that is started later may get the same id, but it is not the io thread.
  thread_.store(std::thread::id(), std::memory_order_relaxed);
}

}  // namespace berth::http
