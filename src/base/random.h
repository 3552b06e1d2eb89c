// Randomness as an argument. Production code gets a generator seeded by the kernel. Tests and
// simulations get one seeded by a number that they print, so that a failing run can be repeated.
// The generators are good enough to spread addresses, but not for secrets.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/uint128.h"

namespace berth::base {

/// Not thread-safe. Each thread or owner has its own.
class Random {
 public:
  virtual ~Random() = default;

  /// Returns 64 uniformly distributed bits.
  virtual uint64_t Next() = 0;
};

/// xoshiro256++ (Blackman and Vigna), seeded through SplitMix64.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed);

  /// Returns a generator seeded by the kernel.
  static SeededRandom FromKernel();

  uint64_t Next() override;

 private:
  std::array<uint64_t, 4> state_;
};

/// Returns a number below `bound`, each exactly equally likely. `bound` must not be 0.
uint64_t Uniform(Random& random, uint64_t bound);
U128 UniformWide(Random& random, U128 bound);

/// Returns a random UUID (version 4) as text.
std::string NewUuid(Random& random);

}  // namespace berth::base
