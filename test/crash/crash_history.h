// The judge of the crash tests. It gets the report of each writer, crash after crash, and finds
// what must not be: an acknowledged write that is missing or changed, a write that is half there,
// one that was never attempted or that was refused, an event that is missing, doubled or out of
// order, a revision that goes back, a state that its events do not lead to. Pure: it sees nothing
// but the logs.
//
// After each crash it reads the events that the store now reports as a sequence of whole attempts,
// which lead from the last known state to the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "crash/oplog.h"

namespace crash {

struct Counts {
  int64_t rounds = 0;        // Starts after which the store was checked.
  int64_t acknowledged = 0;  // Acknowledged writes, all of them found.
  int64_t conflicts = 0;
  int64_t refused = 0;
  int64_t kept = 0;      // Writes without a reply that were found whole.
  int64_t not_kept = 0;  // Writes without a reply that are not there.
  int64_t events = 0;    // Events compared; those of earlier rounds count again.
};

class History {
 public:
  /// Returns what is wrong in what this writer found, given that it asked for events after `from`,
  /// and in its replies. Empty if all is well. After the first fault the history cannot be used any
  /// more.
  std::vector<std::string> Judge(const OpLog& log, int64_t from);

  /// Returns a revision whose state is known, for the next writer to ask about; 0 at first.
  int64_t PickFrom(berth::base::Random& random) const;

  /// Drops states before this revision. They are no longer asked for.
  void Forget(int64_t before);

  /// Forgets everything but the counts: the next writer has an empty store.
  void StartOver();

  const Counts& GetCounts() const { return counts_; }

 private:
  struct Pending {
    Attempt attempt;
    const Reply* reply = nullptr;  // Points into replies_.
  };

  void JudgeFound(const OpLog& log, int64_t from);
  void JudgePast(const OpLog& log, int64_t from);
  void JudgeNew(const OpLog& log);
  /// Takes one attempt from the events at `next` and advances `next`. Returns false if they do not
  /// fit.
  bool TakeAttempt(const std::vector<FoundEvent>& events, size_t& next);
  bool TakePuts(const Pending& pending, const std::vector<FoundEvent>& events, size_t& next);
  bool TakeDeletes(const Pending& pending, const std::vector<FoundEvent>& events, size_t& next);
  void JudgePending();
  void JudgeStates(const OpLog& log, int64_t from);
  void AddReplies(const OpLog& log);
  void Fault(std::string what) { faults_.push_back(std::move(what)); }

  Counts counts_;
  std::vector<std::string> faults_;

  FoundKeys state_;                      // At the last check.
  int64_t checked_ = 0;                  // Revision of the last check.
  int64_t highest_ = 0;                  // The highest revision seen so far.
  std::map<int64_t, FoundKeys> states_;  // States at earlier checks.
  std::map<int64_t, FoundEvent> events_;

  // Since the last check.
  std::map<OpId, Pending> pending_;
  std::map<OpId, Reply> replies_;
  std::vector<berth::store::Compare> seen_;
};

}  // namespace crash
