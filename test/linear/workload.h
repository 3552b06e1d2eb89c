// Clients that work on a few keys of a store at the same time, and watchers of these keys, recorded
// for the checks: creates on absence, updates and deletes by compare, swaps of two keys, moves,
// writes that depend on another key, blind writes, gets, and scans in one page or several.
//
//   const Recording recording = RunWorkload({engine_a.get(), engine_b.get()}, options);
//   EXPECT_EQ(CheckAll(recording), "");
//
// A client has one operation in flight and continues whatever the reply is: refused, failed,
// unknown or none at all. So the engines may lose their servers meanwhile. A history should be
// short (some thousand operations). For longer times run one after the other, each on its own
// prefix, which also keeps late writes of one out of the next.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "linear/checker.h"
#include "linear/linear_history.h"
#include "linear/watch_check.h"
#include "store/engine.h"

namespace berth::linear {

struct WorkloadOptions {
  std::string prefix = "/registry/linear/";  // A prefix without keys.
  size_t keys = 6;
  size_t clients = 6;
  size_t operations = 100;  // For each client.
  /// Ends the workload earlier, after this time; 0 means that it does not.
  std::chrono::milliseconds duration{0};
  /// A client that has waited this long leaves the operation open and continues.
  std::chrono::milliseconds patience{60'000};
  /// Longest pause of a client, every now and then, between recording a call and calling the store,
  /// so that operations overlap even if the store is quick; and between operations.
  std::chrono::microseconds jitter{100};
  uint64_t seed = 1;
  /// For engines that keep notes in values: convert a text to a value, and a value to its text.
  std::function<std::string(std::string_view text)> encode = {};
  std::function<std::string(std::string_view value)> decode = {};
  bool watch = true;  // Runs one watcher on each engine.
  /// How long the watchers may take to see the last write.
  std::chrono::milliseconds watch_patience{60'000};
};

struct Recording {
  History history = {};
  std::vector<WatchRecord> watches = {};
};

/// Runs the clients and watchers. Client i uses engine i modulo their number. All must be engines
/// of the same store.
Recording RunWorkload(const std::vector<store::Engine*>& engines, const WorkloadOptions& options);

/// Returns what is wrong with the history or with what a watcher saw, or an empty text. Adds to
/// `counts` unless it is null.
std::string CheckAll(const Recording& recording, Counts* counts = nullptr,
                     const CheckOptions& options = {});

}  // namespace berth::linear
