// How far a long command is, on standard error: one line that changes on a terminal, else a line
// every few seconds. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace berth::cli {

class Progress {
 public:
  /// Lines begin with "berth <command>: ". `clock` must outlive it.
  Progress(std::string command, const base::Clock& clock);

  /// Takes the line away again.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `doing` is "copying"; as often as one likes. Without `keys` only the bytes are shown.
  void Show(std::string_view doing, std::optional<uint64_t> keys, std::optional<uint64_t> of,
            uint64_t bytes);

  std::chrono::nanoseconds Elapsed() const { return clock_.Steady() - begun_; }

 private:
  const std::string command_;
  const base::Clock& clock_;
  const base::SteadyTime begun_;
  const bool terminal_;
  base::SteadyTime shown_;
  bool line_there_ = false;
};

/// "copying: 12,000 of 20,000 keys (60%), 8.1 MiB".
std::string ProgressText(std::string_view doing, std::optional<uint64_t> keys,
                         std::optional<uint64_t> of, uint64_t bytes);

}  // namespace berth::cli
