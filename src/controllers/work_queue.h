// Keys to be examined, each once however often it was added, in the order of adding; and keys to be
// tried again later, with growing delays.
//
// Threads: one at a time. Errors: none.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "state/text_map.h"

namespace berth::controllers {

class WorkQueue {
 public:
  static constexpr std::chrono::milliseconds kFirstRetry{100};
  static constexpr std::chrono::seconds kLastRetry{60};

  /// Adds the key at the end, if it is not in the queue yet.
  void Add(std::string_view key);
  /// Adds the key at that time. If it is already due at another time, the earlier one counts.
  void AddAt(std::string_view key, base::SteadyTime at);
  /// Adds a key that has failed, as AddAt, after twice the delay of the time before. Returns
  /// whether this is its first failure since it was forgotten.
  bool Retry(std::string_view key, base::SteadyTime now);
  /// Forgets the failures of a key that has succeeded or no longer exists.
  void Forget(std::string_view key);
  void Clear();

  /// Takes the next key that is due.
  std::optional<std::string> Take(base::SteadyTime now);

  bool Ready(base::SteadyTime now) const { return !ready_.empty() || NextDue() <= now; }
  /// Returns when the first of the later keys is due, or max if no key waits.
  base::SteadyTime NextDue() const;

 private:
  std::deque<std::string> ready_;
  state::TextSet waiting_;  // Keys in ready_.
  std::multimap<base::SteadyTime, std::string> later_;
  state::TextMap<base::SteadyTime> due_;  // Keys in later_.
  state::TextMap<int> failures_;
};

}  // namespace berth::controllers
