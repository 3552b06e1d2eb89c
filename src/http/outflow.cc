#include "http/outflow.h"

#include <utility>

namespace berth::http {
namespace {

/// Up to this size an answer costs no more memory than its connection, so it is not counted.
constexpr size_t kSmallAnswer = size_t{64} << 10;

}  // namespace

Outflow::Outflow(std::unique_ptr<Source> source, const std::shared_ptr<Mailbox>& mailbox,
                 FlowHost& host, int32_t stream)
    : source_(std::move(source)),
      mailbox_(&mailbox),
      host_(&host),
      stream_(stream),
      ended_(source_ == nullptr) {}

Outflow::~Outflow() {
  if (held_ > 0) budget_->Give(held_);
}

Outflow::State Outflow::Fill(size_t room) {
  if (!pieces_.empty()) return State::kBytes;
  if (aborted_) return State::kAbort;
  if (ended_) return State::kEnd;
  if (waiting_) return State::kWaiting;
  for (;;) {
    Signal* const signal = source_->signal();
    Arm(signal, *mailbox_);
    const Pulled pulled = source_->Pull(pieces_, room);
    if (pulled == Pulled::kWait && source_->signal() != signal) {
      // The stream is armed for another signal than it waits on, so it might miss a notification.
      if (pieces_.empty()) continue;
      return State::kBytes;
    }
    ended_ = pulled == Pulled::kEnd;
    aborted_ = pulled == Pulled::kAbort;
    if (pulled == Pulled::kWait) {
      waiting_ = true;
      wake_at_ = source_->wake_at();
      Join();
    }
    break;
  }
  if (!pieces_.empty()) return State::kBytes;
  if (aborted_) return State::kAbort;
  if (ended_) return State::kEnd;
  // kMore without bytes breaks the contract. It is treated as kWait, since the thread would spin.
  if (!waiting_) {
    waiting_ = true;
    wake_at_ = source_->wake_at();
    Join();
  }
  return State::kWaiting;
}

void Outflow::StopWaiting() {
  Leave();
  waiting_ = false;
}

void Outflow::Drain() {
  if (source_ == nullptr) return;
  source_->OnDrain();
  StopWaiting();
}

void Outflow::Woken() {
  waiting_ = false;
  host_->OnWoken(stream_);
}

size_t HoldAnswer(ProtocolEnv& env, Response& answer) {
  const size_t bytes = answer.body.bytes();
  if (!answer.bulk || bytes <= kSmallAnswer) return 0;
  if (env.answers.Take(bytes)) return bytes;
  answer = env.on_error(503, "too many answers wait for clients to take them; try again later");
  return 0;
}

}  // namespace berth::http
