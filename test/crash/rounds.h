// Rounds of crashing: starts a writer on the same directory again and again, lets it end somehow,
// and judges what it told.
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
#include "crash/history.h"
#include "crash/oplog.h"

namespace crash {

using berth::base::TempDir;

struct Round {
  std::map<std::string, std::string> arguments;    // For crash_writer, beside the usual ones.
  std::map<std::string, std::string> environment;  // For libfaultfs.so.
  /// Ends the writer, or waits until it has ended.
  std::function<void(Child& writer)> end;
};

class Rounds {
 public:
  /// `writer` is the program.
  Rounds(std::string writer, TempDir::Place place, uint64_t seed)
      : writer_(std::move(writer)), seed_(seed), random_(seed), directory_(place) {}

  /// What is wrong after this round, if anything. Now and then a round gives up history on the way.
  std::vector<std::string> Run(const Round& round);

  /// Waits until the writer of the round under way has told this (a line that begins so): "G" when
  /// it has opened the store and told what it found, "I" when it has done all its work. Or until it
  /// has ended.
  void WaitUntil(Child& writer, std::string_view told) const;

  /// Goes on in an empty directory; the counts go on, too.
  void StartOver();

  /// Only opens the store and judges what is there.
  std::vector<std::string> Look();

  /// Likewise, of a copy of the directory, and without consequences for what follows.
  std::vector<std::string> LookAt(const std::string& copy);

  const Counts& GetCounts() const { return history_.GetCounts(); }
  const OpLog& LastLog() const { return log_; }
  berth::base::Random& Random() { return random_; }
  std::string DataDirectory() const;
  std::string LogPath() const;
  /// Where the program's standard streams go.
  std::string OutputPath() const;
  /// A line for people.
  std::string Describe() const;

 private:
  /// What the writer has told.
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

/// The faults as one text, for a test's message.
std::string Join(const std::vector<std::string>& faults);

}  // namespace crash
