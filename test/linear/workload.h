// Clients that work on a few keys of a store at the same time, and watchers that look on, recorded
// for the checks: creates on absence, updates and deletes by compare, swaps of two keys, moves,
// writes that depend on another key, blind writes, gets, and scans in one page or several.
//
//   const Recording recording = RunWorkload({engine_a.get(), engine_b.get()}, options);
//   EXPECT_EQ(CheckAll(recording), "");
//
// A client has one operation under way and goes on whatever it is told: refused, failed, unknown or
// not answered at all. So the engines may lose their servers meanwhile. A history should be short
// (some thousand operations); for longer times run one after the other, each on a prefix of its
// own, which also keeps late writes of one out of the next.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "linear/checker.h"
#include "linear/history.h"
#include "linear/watch_check.h"
#include "store/engine.h"

namespace berth::linear {

struct WorkloadOptions {
  std::string prefix = "/registry/linear/";  // No keys there yet.
  size_t keys = 6;
  size_t clients = 6;
  size_t operations = 100;  // Of each client.
  /// Ends earlier when this is over; 0: does not.
  std::chrono::milliseconds duration{0};
  /// A client that has waited so long leaves the operation behind, open, and goes on.
  std::chrono::milliseconds patience{60'000};
  /// Up to so long a client waits between an operation's call and asking the store, every now and
  /// then, so that operations overlap even if the store is quick; and between operations.
  std::chrono::microseconds jitter{100};
  uint64_t seed = 1;
  /// For engines that keep notes in values: how a value is made of a text, and the text of a value.
  std::function<std::string(std::string_view text)> encode = {};
  std::function<std::string(std::string_view value)> decode = {};
  bool watch = true;  // One watcher on each engine.
  /// How long the watchers may take to see the last write.
  std::chrono::milliseconds watch_patience{60'000};
};

struct Recording {
  History history = {};
  std::vector<WatchRecord> watches = {};
};

/// Client i talks to engine i modulo their number; they must be engines of the same store.
Recording RunWorkload(const std::vector<store::Engine*>& engines, const WorkloadOptions& options);

/// What is wrong with the history or with what a watcher saw; empty when nothing is. Adds to
/// `counts`, if given.
std::string CheckAll(const Recording& recording, Counts* counts = nullptr,
                     const CheckOptions& options = {});

}  // namespace berth::linear
