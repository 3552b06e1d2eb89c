// Randomness as something passed in. Production code gets a generator seeded by the kernel; tests
// and simulations get one seeded by a number they print, so that a failing run can be repeated.
// Good enough to spread addresses, not for secrets.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/uint128.h"

namespace berth::base {

/// Not thread-safe: one per thread or per owner.
class Random {
 public:
  virtual ~Random() = default;

  /// 64 uniformly distributed bits.
  virtual uint64_t Next() = 0;
};

/// xoshiro256++ (Blackman and Vigna), seeded through SplitMix64.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed);

  /// Seeded by the kernel.
  static SeededRandom FromKernel();

  uint64_t Next() override;

 private:
  std::array<uint64_t, 4> state_;
};

/// A number below `bound`, each exactly equally likely. `bound` must not be 0.
uint64_t Uniform(Random& random, uint64_t bound);
U128 UniformWide(Random& random, U128 bound);

/// A random UUID (version 4) as text.
std::string NewUuid(Random& random);

}  // namespace berth::base
