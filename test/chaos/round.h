// One round of chaos: clients and watchers use all replicas while one kind of fault hits the
// cluster again and again. Then everything is healed and checked.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "chaos/arena.h"
#include "chaos/checks.h"
#include "chaos/faults.h"
#include "linear/linear_history.h"
#include "linear/workload.h"

namespace berth::chaos {

struct RoundOptions {
  Fault fault;
  std::chrono::milliseconds duration{4000};
  uint64_t seed = 1;
  std::string prefix = "/registry/chaos/";  // A prefix without keys.
};

/// What happened, summed over the rounds.
struct Tally {
  linear::Counts counts = {};
  Doubts doubts = {};
  size_t faults = 0;
  size_t events = 0;  // Events of all watches.
  std::chrono::milliseconds longest_gap{0};

  Tally& operator+=(const Tally& other);
};
std::string Describe(const Tally& tally);

/// Runs a round. Returns what is wrong, or an empty text. Adds to `tally`.
std::string RunRound(Arena& arena, const RoundOptions& options, Tally& tally);

/// Does the part after the healing: checks that every replica, a new one and etcd itself agree with
/// the recording.
std::string CheckRecording(Arena& arena, const std::string& prefix,
                           const linear::Recording& recording, Tally& tally);

}  // namespace berth::chaos
