// SipHash-2-4 with 128 bits of output. It is a keyed hash, so a client that chooses keys cannot
// make them collide. It is wide enough to stand for the key itself: the odds of one collision among
// 2^31 keys are 2^-67. So the index needs memory for the hashes of keys, not for their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::store::rocks {

struct KeyHash {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const KeyHash&) const = default;
};

/// Uses the low bits as they are, since they are already spread like random bits.
struct KeyHashHasher {
  size_t operator()(const KeyHash& hash) const { return static_cast<size_t>(hash.low); }
};

struct KeyHashSeed {
  uint64_t k0 = 0;
  uint64_t k1 = 0;
};

KeyHash HashKey(const KeyHashSeed& seed, std::string_view key);

}  // namespace berth::store::rocks
