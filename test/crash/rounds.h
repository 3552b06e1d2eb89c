// Rounds of crashing: starts a writer on the same directory again and again, lets it end somehow,
// and judges its report.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/temp_dir.h"
#include "crash/child.h"
#include "crash/crash_history.h"
#include "crash/oplog.h"

namespace crash {

using berth::base::TempDir;

struct Round {
  std::map<std::string, std::string> arguments;    // For crash_writer, besides the usual ones.
  std::map<std::string, std::string> environment;  // For libfaultfs.so.
  /// Ends the writer, or waits until it has ended.
  std::function<void(Child& writer)> end;
};

class Rounds {
 public:
  /// `writer` is the program.
  Rounds(std::string writer, TempDir::Medium medium, uint64_t seed)
      : writer_(std::move(writer)), seed_(seed), random_(seed), directory_(medium) {}

  /// Runs a round. Returns what is wrong after it; empty if nothing is. Some rounds also compact
  /// history.
  std::vector<std::string> Run(const Round& round);

  /// Waits until the writer of the current round has reported a line that begins with `told`, or
  /// has ended. "G" means that it has opened the store and reported what it found, "I" that it has
  /// done all its work.
  void WaitUntil(Child& writer, std::string_view told) const;

  /// Continues in an empty directory, with the same counts.
  void StartOver();

  /// Only opens the store and judges what is there.
  std::vector<std::string> Look();

  /// Does the same with a copy of the directory, without effect on later rounds.
  std::vector<std::string> LookAt(const std::string& copy);

  const Counts& GetCounts() const { return history_.GetCounts(); }
  const OpLog& LastLog() const { return log_; }
  berth::base::Random& Random() { return random_; }
  std::string DataDirectory() const;
  std::string LogPath() const;
  /// Returns the file of the program's standard streams.
  std::string OutputPath() const;
  /// Returns a line for people.
  std::string Describe() const;

 private:
  /// Runs the writer and returns its report.
  OpLog Start(const Round& round, const std::string& directory, int64_t from, int64_t compact);

  const std::string writer_;
  const uint64_t seed_;
  berth::base::SeededRandom random_;
  const TempDir directory_;
  History history_;
  OpLog log_;
  int64_t round_ = 0;
  int64_t directories_ = 1;
};

/// Returns the faults as one text, for a test's message.
std::string Join(const std::vector<std::string>& faults);

}  // namespace crash
