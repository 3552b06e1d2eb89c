#include "http/mailbox.h"

#include <utility>

namespace berth::http {

// --- Waiter, WaitSlot ----------------------------------------------------------------------------

void Waiter::Arm(Signal* signal, const std::shared_ptr<Mailbox>& mailbox) {
  const std::shared_ptr<Signal::State> state = signal == nullptr ? nullptr : signal->state();
  if (state != signal_) {
    Leave();
    slot_ = state == nullptr ? nullptr : state->SlotOf(mailbox);
    signal_ = state;
  }
  if (slot_ != nullptr) slot_->Arm();
}

void Waiter::Join() {
  if (joined_ || slot_ == nullptr) return;
  joined_ = true;
  previous_ = nullptr;
  next_ = slot_->first_;
  if (next_ != nullptr) next_->previous_ = this;
  slot_->first_ = this;
}

void Waiter::Leave() {
  if (!joined_) return;
  joined_ = false;
  if (previous_ != nullptr) {
    previous_->next_ = next_;
  } else {
    slot_->first_ = next_;
  }
  if (next_ != nullptr) next_->previous_ = previous_;
}

void WaitSlot::WakeAll() {
  // Woken only marks: nothing joins or dies in between, so the list empties.
  while (first_ != nullptr) {
    Waiter* waiter = first_;
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
  // Io threads of servers that are gone.
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
    lock.Unlock();  // What is dropped may hold anything: not under our lock.
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
  // A thread that is started later may be given the same id; it is not ours.
  thread_.store(std::thread::id(), std::memory_order_relaxed);
}

}  // namespace berth::http
