#include "crash/crash_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace crash {

namespace {

using berth::store::Outcome;

constexpr size_t kStates = 5;

std::string Describe(const FoundEvent& event) {
  return fmt::format("revision {} ({} of {}{})", event.revision, event.is_put ? "put" : "delete",
                     event.key, event.is_put ? fmt::format(" by {}", event.print.op) : "");
}

std::string DescribeFirstDifference(const FoundKeys& expected, const FoundKeys& found) {
  for (const auto& [key, value] : expected) {
    const auto it = found.find(key);
    if (it == found.end()) return fmt::format("{} is missing", key);
    if (!(it->second == value)) {
      return fmt::format("{} has revision {} by {} instead of revision {} by {}", key,
                         it->second.revision, it->second.print.op, value.revision, value.print.op);
    }
  }
  for (const auto& [key, value] : found) {
    if (!expected.contains(key)) return fmt::format("{} should not be there", key);
  }
  return "nothing";
}

}  // namespace

std::vector<std::string> History::Judge(const OpLog& log, int64_t from) {
  if (!log.error.empty()) Fault("the writer gave up: " + log.error);
  if (log.ready) JudgeFound(log, from);
  AddReplies(log);
  return std::exchange(faults_, {});
}

int64_t History::PickFrom(berth::base::Random& random) const {
  if (states_.empty()) return 0;
  return std::next(states_.begin(),
                   static_cast<ptrdiff_t>(berth::base::Uniform(random, states_.size())))
      ->first;
}

void History::Forget(int64_t before) {
  states_.erase(states_.begin(), states_.lower_bound(before));
  events_.erase(events_.begin(), events_.lower_bound(before));
}

void History::StartOver() {
  const Counts counts = counts_;
  *this = History();
  counts_ = counts;
}

void History::JudgeFound(const OpLog& log, int64_t from) {
  ++counts_.rounds;
  if (log.current < highest_) {
    Fault(fmt::format("revisions go back: {} is current, {} was seen", log.current, highest_));
  }
  for (size_t i = 1; i < log.events.size(); ++i) {
    if (log.events[i].revision <= log.events[i - 1].revision) {
      Fault(fmt::format("out of order or doubled: {}", Describe(log.events[i])));
    }
  }
  if (!log.events.empty() && log.events.back().revision > log.current) {
    Fault(fmt::format("beyond the current revision: {}", Describe(log.events.back())));
  }
  JudgePast(log, from);
  JudgeNew(log);
  JudgePending();
  JudgeStates(log, from);
  counts_.events += static_cast<int64_t>(log.events.size());
  checked_ = log.current;
  highest_ = std::max(highest_, log.current);
  states_[checked_] = state_;
  if (states_.size() > kStates) Forget(std::next(states_.begin())->first);
}

/// Checks that all events reported before are reported again unchanged.
void History::JudgePast(const OpLog& log, int64_t from) {
  auto known = events_.upper_bound(from);
  for (const FoundEvent& event : log.events) {
    if (event.revision > checked_) break;
    if (known == events_.end() || !(known->second == event)) {
      Fault(fmt::format("not what was reported before: {}", Describe(event)));
      return;
    }
    ++known;
  }
  if (known != events_.end()) Fault(fmt::format("missing: {}", Describe(known->second)));
}

void History::JudgeNew(const OpLog& log) {
  size_t next = 0;
  while (next < log.events.size() && log.events[next].revision <= checked_) ++next;
  while (next < log.events.size()) {
    if (!TakeAttempt(log.events, next)) return;
  }
}

bool History::TakeAttempt(const std::vector<FoundEvent>& events, size_t& next) {
  const FoundEvent& first = events[next];
  const auto it = first.is_put ? pending_.find(first.print.op) : pending_.end();
  if (it == pending_.end()) {
    Fault(fmt::format("belongs to no attempt that was under way: {}", Describe(first)));
    return false;
  }
  const Pending pending = std::move(it->second);
  pending_.erase(it);
  const Outcome outcome = pending.reply != nullptr ? pending.reply->outcome : Outcome::kUnknown;
  if (outcome == Outcome::kRefused || outcome == Outcome::kConflict) {
    Fault(fmt::format("was refused and happened all the same: {}", Describe(first)));
  }
  for (const auto& compare : pending.attempt.compares) {
    const auto key = state_.find(compare.key);
    if ((key == state_.end() ? 0 : key->second.revision) != compare.revision.value) {
      Fault(fmt::format("happened though {} did not have revision {}: {}", compare.key,
                        compare.revision.value, Describe(first)));
    }
  }
  ++(outcome == Outcome::kCommitted ? counts_.acknowledged : counts_.kept);
  return TakePuts(pending, events, next) && TakeDeletes(pending, events, next);
}

bool History::TakePuts(const Pending& pending, const std::vector<FoundEvent>& events,
                       size_t& next) {
  const Attempt& attempt = pending.attempt;
  for (size_t i = 0; i < attempt.puts.size(); ++i, ++next) {
    const auto& put = attempt.puts[i];
    const Print print = PrintOf(ValueOf(attempt.op, put.key, put.size));
    if (next >= events.size() || !events[next].is_put || events[next].key != put.key ||
        events[next].print.op != attempt.op) {
      Fault(fmt::format("{} is half there: its put of {} is missing", attempt.op, put.key));
      return false;
    }
    const FoundEvent& event = events[next];
    if (!(event.print == print)) Fault(fmt::format("has another value: {}", Describe(event)));
    if (pending.reply != nullptr && pending.reply->outcome == Outcome::kCommitted &&
        pending.reply->puts.at(i) != event.revision) {
      Fault(fmt::format("was acknowledged as revision {}: {}", pending.reply->puts[i],
                        Describe(event)));
    }
    state_[put.key] = {.revision = event.revision, .print = event.print};
    events_[event.revision] = event;
  }
  return true;
}

bool History::TakeDeletes(const Pending& pending, const std::vector<FoundEvent>& events,
                          size_t& next) {
  const Attempt& attempt = pending.attempt;
  for (size_t i = 0; i < attempt.deletes.size(); ++i) {
    const std::string& key = attempt.deletes[i];
    int64_t revision = 0;
    if (state_.erase(key) > 0) {
      if (next >= events.size() || events[next].is_put || events[next].key != key) {
        Fault(fmt::format("{} is half there: its delete of {} is missing", attempt.op, key));
        return false;
      }
      revision = events[next].revision;
      events_[revision] = events[next++];
    }
    if (pending.reply != nullptr && pending.reply->outcome == Outcome::kCommitted &&
        pending.reply->deletes.at(i) != revision) {
      Fault(fmt::format("the delete of {} by {} was acknowledged as revision {} and has {}", key,
                        attempt.op, pending.reply->deletes[i], revision));
    }
  }
  return true;
}

/// Checks whether the remaining attempts, which did not happen, were allowed not to.
void History::JudgePending() {
  for (const auto& [op, pending] : pending_) {
    if (pending.reply == nullptr || pending.reply->outcome == Outcome::kUnknown) {
      ++counts_.not_kept;
    } else if (pending.reply->outcome == Outcome::kCommitted) {
      Fault(fmt::format("{} was acknowledged (revision {}) and is gone", op,
                        pending.reply->puts.empty() ? 0 : pending.reply->puts.front()));
    }
  }
  for (const auto& seen : seen_) {
    if (seen.revision.value <= checked_) continue;
    const auto event = events_.find(seen.revision.value);
    if (event == events_.end() || event->second.key != seen.key) {
      Fault(fmt::format("{} was seen with revision {}, which is gone", seen.key,
                        seen.revision.value));
    }
  }
  pending_.clear();
  replies_.clear();
  seen_.clear();
}

void History::JudgeStates(const OpLog& log, int64_t from) {
  if (!(log.keys == state_)) {
    Fault("the state is not what its events lead to: " + DescribeFirstDifference(state_, log.keys));
  }
  const auto old = states_.find(from);
  if (old != states_.end() && !(old->second == log.old_keys)) {
    Fault(fmt::format("the state at revision {} is not what it was: {}", from,
                      DescribeFirstDifference(old->second, log.old_keys)));
  }
}

void History::AddReplies(const OpLog& log) {
  for (const auto& [op, reply] : log.replies) replies_[op] = reply;
  std::set<int64_t> given;
  const auto acknowledged = [&](OpId op, int64_t revision) {
    if (revision == 0) return;
    if (revision <= log.current) {
      Fault(fmt::format("revisions go back: {} was given revision {} after {} was current", op,
                        revision, log.current));
    }
    if (!given.insert(revision).second) Fault(fmt::format("revision {} was given twice", revision));
    highest_ = std::max(highest_, revision);
  };
  for (const Attempt& attempt : log.attempts) {
    const auto reply = replies_.find(attempt.op);
    const Reply* given_reply = reply == replies_.end() ? nullptr : &reply->second;
    pending_[attempt.op] = {.attempt = attempt, .reply = given_reply};
    if (given_reply == nullptr) continue;
    for (const int64_t revision : given_reply->puts) acknowledged(attempt.op, revision);
    for (const int64_t revision : given_reply->deletes) acknowledged(attempt.op, revision);
    for (const auto& seen : given_reply->seen) {
      highest_ = std::max(highest_, seen.revision.value);
      seen_.push_back(seen);
    }
    if (given_reply->outcome == Outcome::kConflict) ++counts_.conflicts;
    if (given_reply->outcome == Outcome::kRefused) ++counts_.refused;
  }
}

}  // namespace crash
