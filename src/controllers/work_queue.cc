#include "controllers/work_queue.h"

#include <algorithm>
#include <utility>

namespace berth::controllers {

void WorkQueue::Add(std::string_view key) {
  if (waiting_.contains(key)) return;
  waiting_.emplace(key);
  ready_.emplace_back(key);
}

void WorkQueue::AddAt(std::string_view key, base::SteadyTime at) {
  if (const auto found = due_.find(key); found != due_.end()) {
    if (found->second <= at) return;
    const auto [begin, end] = later_.equal_range(found->second);
    later_.erase(std::find_if(begin, end, [&](const auto& each) { return each.second == key; }));
  }
  due_[key] = at;
  later_.emplace(at, key);
}

bool WorkQueue::Retry(std::string_view key, base::SteadyTime now) {
  int& failures = failures_[key];
  const auto delay = std::min<std::chrono::nanoseconds>(kLastRetry, kFirstRetry * (1 << failures));
  failures = std::min(failures + 1, 16);
  AddAt(key, now + delay);
  return failures == 1;
}

void WorkQueue::Forget(std::string_view key) {
  if (!failures_.empty()) failures_.erase(key);
}

void WorkQueue::Clear() { *this = WorkQueue(); }

std::optional<std::string> WorkQueue::Take(base::SteadyTime now) {
  while (!later_.empty() && later_.begin()->first <= now) {
    const auto first = later_.extract(later_.begin());
    due_.erase(first.mapped());
    Add(first.mapped());
  }
  if (ready_.empty()) return std::nullopt;
  std::string key = std::move(ready_.front());
  ready_.pop_front();
  waiting_.erase(key);
  return key;
}

base::SteadyTime WorkQueue::NextDue() const {
  return later_.empty() ? base::SteadyTime::max() : later_.begin()->first;
}

}  // namespace berth::controllers
