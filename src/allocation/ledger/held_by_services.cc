#include "allocation/ledger/held_by_services.h"

namespace berth::allocation {

void HeldByServices::Add(U128 value, State said) {
  if (!held_.Insert(value)) {
    ++more_[value];
  } else if (said != State::kTaken) {
    said_[value] = said;
  }
}

HeldByServices::State HeldByServices::Remove(U128 value) {
  if (!more_.empty()) {
    if (const auto more = more_.find(value); more != more_.end()) {
      if (--more->second == 0) more_.erase(more);
      return State::kTaken;
    }
  }
  held_.Erase(value);
  if (said_.empty()) return State::kTaken;
  const auto found = said_.find(value);
  if (found == said_.end()) return State::kTaken;
  const State said = found->second;
  said_.erase(found);
  return said;
}

HeldByServices::State HeldByServices::Say(U128 value, State said) {
  if (said == State::kTaken) {
    if (!said_.empty()) said_.erase(value);
    return said;
  }
  if (!held_.Contains(value)) return said;
  said_[value] = said;
  return State::kTaken;
}

size_t HeldByServices::Count(U128 value) const {
  if (!held_.Contains(value)) return 0;
  const auto more = more_.find(value);
  return more == more_.end() ? 1 : size_t{1} + more->second;
}

}  // namespace berth::allocation
