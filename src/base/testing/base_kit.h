// Helpers for tests only.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace berth::base {

/// Returns how much work a counted test does: `full` in the long form (`./dev
/// test --all`), else a tenth.
inline int64_t LongCount(int64_t full) {
  const char* set = std::getenv("BERTH_LONG");
  return set != nullptr && std::string_view(set) == "1" ? full : full / 10;
}

/// Returns the seed of a random test. BERTH_SEED repeats a failing run, which has printed its seed.
inline uint64_t TestSeed(uint64_t fallback) {
  const char* set = std::getenv("BERTH_SEED");
  return set != nullptr ? std::strtoull(set, nullptr, 10) : fallback;
}

}  // namespace berth::base
