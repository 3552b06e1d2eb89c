#include "commit/deadlines.h"

namespace berth::commit {

void Deadlines::Add(const OpPtr& op) {
  if (op->write.deadline != base::SteadyTime::max()) deadlines_.emplace(op->write.deadline, op);
}

void Deadlines::Remove(const OpPtr& op) {
  if (!deadlines_.empty()) deadlines_.erase({op->write.deadline, op});
}

std::optional<base::SteadyTime> Deadlines::NextTimer() {
  if (deadlines_.empty() || deadlines_.begin()->first >= timer_at_) return std::nullopt;
  timer_at_ = deadlines_.begin()->first;
  return timer_at_;
}

Ops Deadlines::TakeLate(base::SteadyTime now) {
  Ops late;
  for (; !deadlines_.empty() && deadlines_.begin()->first <= now;
       deadlines_.erase(deadlines_.begin())) {
    late.push_back(deadlines_.begin()->second);
  }
  timer_at_ = base::SteadyTime::max();
  return late;
}

}  // namespace berth::commit
