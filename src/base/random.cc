#include "base/random.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace berth::base {
namespace {

uint64_t SplitMix(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

SeededRandom::SeededRandom(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

SeededRandom SeededRandom::FromKernel() {
  uint64_t seed = 0;
  // getrandom never returns fewer than eight bytes here. Only a signal can interrupt
  // the wait for the kernel's pool.
  while (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
    if (errno != EINTR) std::abort();
  }
  return SeededRandom(seed);
}

uint64_t SeededRandom::Next() {
  auto& s = state_;
  const uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const uint64_t shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = std::rotl(s[3], 45);
  return result;
}

// Uses Lemire's method: the high half of a 64x64 product is uniform if the few draws whose low half
// is below 2^64 mod bound are rejected.
uint64_t Uniform(Random& random, uint64_t bound) {
  U128 product = U128{random.Next()} * bound;
  if (Low64(product) < bound) [[unlikely]] {
    const uint64_t threshold = (0 - bound) % bound;
    while (Low64(product) < threshold) product = U128{random.Next()} * bound;
  }
  return High64(product);
}

U128 UniformWide(Random& random, U128 bound) {
  if (High64(bound) == 0) return Uniform(random, Low64(bound));
  const int unused_bits = std::countl_zero(High64(bound - 1));
  const uint64_t high_mask = High64(bound - 1) == 0 ? 0 : ~uint64_t{0} >> unused_bits;
  while (true) {
    const uint64_t high = random.Next() & high_mask;
    const U128 draw = MakeU128(high, random.Next());
    if (draw < bound) return draw;
  }
}

std::string NewUuid(Random& random) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::array<uint64_t, 2> halves = {
      (random.Next() & ~uint64_t{0xf000}) | 0x4000,                 // Version 4,
      (random.Next() & ~(uint64_t{3} << 62)) | uint64_t{2} << 62};  // of the usual variant.
  std::string text(36, '-');
  size_t at = 0;
  for (size_t byte = 0; byte < 16; ++byte) {
    if (byte == 4 || byte == 6 || byte == 8 || byte == 10) ++at;
    const uint64_t value = halves[byte / 8] >> 8 * (7 - byte % 8);
    text[at++] = kDigits[value >> 4 & 0xf];
    text[at++] = kDigits[value & 0xf];
  }
  return text;
}

}  // namespace berth::base
