#include "allocation/ledger/in_flight_values.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace berth::allocation {

using alloc::State;

bool InFlightValues::HasMoreThan(size_t count, const alloc::Pool::Range* range) const {
  if (range == nullptr) return values_.size() > count;
  const std::optional<alloc::Interval>& span = range->index.layout().span();
  if (!span) return false;
  for (auto at = values_.lower_bound(span->first); at != values_.end(); ++at) {
    if (at->first > span->last) return false;
    if (count-- == 0) return true;
  }
  return false;
}

State InFlightValues::UndoTake(U128 value) {
  const auto found = values_.find(value);
  const State stored = found->second.stored;
  found->second.taken = false;
  if (!found->second.released) values_.erase(found);
  return stored;
}

InFlightValues::Ended InFlightValues::End(U128 value, bool InFlight::* part, Callbacks& callbacks) {
  const auto found = values_.find(value);
  if (found == values_.end()) return {};
  InFlight& in_flight = found->second;
  in_flight.*part = false;
  Ended ended{.was_in_flight = true};
  if (!in_flight.taken && in_flight.stored != State::kTaken) ended.state = in_flight.stored;
  std::move(in_flight.waiting.begin(), in_flight.waiting.end(), std::back_inserter(callbacks));
  in_flight.waiting.clear();
  if (!in_flight.taken && !in_flight.released) values_.erase(found);
  return ended;
}

State InFlightValues::Stored(U128 value, const alloc::Pool& pool) const {
  const auto found = values_.find(value);
  return found == values_.end() ? pool.Get(value) : found->second.stored;
}

State InFlightValues::SetStored(U128 value, State stored) {
  const auto found = values_.find(value);
  if (found == values_.end()) return stored;
  found->second.stored = stored;
  return found->second.taken ? State::kTaken : stored;
}

void InFlightValues::ForgetStored(alloc::Pool& pool) {
  for (auto& [value, in_flight] : values_) {
    in_flight.stored = State::kFree;
    if (in_flight.taken) pool.Hold(value);
  }
}

bool InFlightValues::MayChange(U128 value) const {
  const auto found = values_.find(value);
  if (found == values_.end()) return false;
  return found->second.released || found->second.stored != State::kTaken;
}

bool InFlightValues::Await(U128 value, Callback retry) {
  const auto found = values_.find(value);
  if (found == values_.end()) return false;
  found->second.waiting.push_back(std::move(retry));
  return true;
}

void InFlightValues::TakeCallbacks(Callbacks& callbacks) {
  for (auto& [value, in_flight] : values_) {
    std::move(in_flight.waiting.begin(), in_flight.waiting.end(), std::back_inserter(callbacks));
    in_flight.waiting.clear();
  }
}

}  // namespace berth::allocation
