// What is to be looked at, each thing once however often it was asked for, in the order of asking;
// and what is to be tried again later, later each time.
//
// Threads: used by one at a time. Errors: none.
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

  /// Behind all others, if it does not wait there already.
  void Add(std::string_view key);
  /// As Add, not before that time; with the earlier one if it waits for another.
  void AddAt(std::string_view key, base::SteadyTime at);
  /// It has failed: as AddAt, at a time that lies twice as far away as the one before. Whether this
  /// is the first time since the key was forgotten.
  bool Retry(std::string_view key, base::SteadyTime now);
  /// It has not failed, or is no more: the next Retry is the first again.
  void Forget(std::string_view key);
  void Clear();

  /// The next one whose time has come.
  std::optional<std::string> Take(base::SteadyTime now);

  bool Ready(base::SteadyTime now) const { return !ready_.empty() || NextDue() <= now; }
  /// When the first of those that are not ready will be; max: never.
  base::SteadyTime NextDue() const;

 private:
  std::deque<std::string> ready_;
  state::TextSet waiting_;  // Those in ready_.
  std::multimap<base::SteadyTime, std::string> later_;
  state::TextMap<base::SteadyTime> due_;  // Those in later_.
  state::TextMap<int> failures_;
};

}  // namespace berth::controllers
