#include "commit/lanes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::commit {

Lanes::Entered Lanes::Enter(const OpPtr& op) {
  if (size_ >= max_writes_) return Entered::kFull;
  Lane& lane = lanes_[op->write.key];
  if (lane.queue.size() >= max_writes_per_key_) return Entered::kFull;
  const bool first = lane.queue.empty();
  lane.queue.push_back(op);
  ++size_;
  return first ? Entered::kFirst : Entered::kWaits;
}

void Lanes::EnterStore(const Op& op) { lanes_.find(op.write.key)->second.in_store = true; }

void Lanes::LeaveStore(const Op& op, Ops& ready) {
  Lane& lane = lanes_.find(op.write.key)->second;
  lane.in_store = false;
  std::ranges::move(lane.waiting, std::back_inserter(ready));
  lane.waiting.clear();
}

bool Lanes::WaitForStore(const std::string& key, const OpPtr& op) {
  const auto lane = lanes_.find(key);
  if (lane == lanes_.end() || !lane->second.in_store) return false;
  lane->second.waiting.push_back(op);
  return true;
}

void Lanes::Leave(const Op& op, Ops& ready) {
  const auto found = lanes_.find(op.write.key);
  Lane& lane = found->second;
  lane.in_store = false;
  std::ranges::move(lane.waiting, std::back_inserter(ready));
  lane.waiting.clear();
  lane.queue.pop_front();
  if (lane.queue.empty()) {
    lanes_.erase(found);
  } else {
    ready.push_back(lane.queue.front());
  }
  --size_;
}

Ops Lanes::Clear() {
  Ops all;
  for (auto& [key, lane] : lanes_) std::ranges::move(lane.queue, std::back_inserter(all));
  lanes_.clear();
  size_ = 0;
  return all;
}

}  // namespace berth::commit
