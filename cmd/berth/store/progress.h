// Shows the progress of a long command on standard error: a line that changes on a terminal,
// otherwise a new line every few seconds. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace berth::cli {

class Progress {
 public:
  /// Lines begin with "berth <command>: ", or with "berth: " if several commands share the work.
  /// `unit` is what is counted. `clock` must outlive it.
  Progress(std::string command, const base::Clock& clock, std::string_view unit = "keys");

  /// Clears the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows the progress, such as "copying" (`doing`) 12 `keys` `of` 20. It may be called often:
  /// most calls print nothing. Without `keys` only the bytes are shown.
  void Show(std::string_view doing, std::optional<uint64_t> keys, std::optional<uint64_t> of,
            uint64_t bytes);

  std::chrono::nanoseconds Elapsed() const { return clock_.Steady() - begun_; }

 private:
  const std::string command_;
  const std::string unit_;
  const base::Clock& clock_;
  const base::SteadyTime begun_;
  const bool terminal_;
  base::SteadyTime shown_;
  bool line_there_ = false;
};

/// Returns a text such as "copying: 12,000 of 20,000 keys (60%), 8.1 MiB".
std::string ProgressText(std::string_view doing, std::optional<uint64_t> keys,
                         std::optional<uint64_t> of, uint64_t bytes,
                         std::string_view unit = "keys");

/// Returns the beginning of a line of progress, such as "berth copy: ".
std::string ProgressHead(std::string_view command);

}  // namespace berth::cli
