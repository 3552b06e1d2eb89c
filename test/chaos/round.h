// One round of chaos: clients and watchers work through all replicas while one kind of fault is
// done to the cluster again and again; then everything is healed and everything is checked.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "chaos/arena.h"
#include "chaos/checks.h"
#include "chaos/faults.h"
#include "linear/history.h"
#include "linear/workload.h"

namespace berth::chaos {

struct RoundOptions {
  Fault fault;
  std::chrono::milliseconds duration{4000};
  uint64_t seed = 1;
  std::string prefix = "/registry/chaos/";  // No keys there yet.
};

/// What happened; of many rounds, added up.
struct Tally {
  linear::Counts counts = {};
  Doubts doubts = {};
  size_t faults = 0;
  size_t events = 0;  // Of all watches.
  std::chrono::milliseconds longest_gap{0};

  Tally& operator+=(const Tally& other);
};
std::string Describe(const Tally& tally);

/// Returns what is wrong, or nothing. Adds to `tally`.
std::string RunRound(Arena& arena, const RoundOptions& options, Tally& tally);

/// The part after the healing: every replica, a new one and etcd itself agree with the recording.
std::string CheckRecording(Arena& arena, const std::string& prefix,
                           const linear::Recording& recording, Tally& tally);

}  // namespace berth::chaos
