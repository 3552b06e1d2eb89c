#include "store/rocks/key_hash.h"

#include <bit>
#include <cstring>

namespace berth::store::rocks {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

struct State {
  uint64_t v0;
  uint64_t v1;
  uint64_t v2;
  uint64_t v3;

  void Round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void Compress(uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }

  uint64_t Finish() {
    for (int i = 0; i < 4; ++i) Round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

}  // namespace

KeyHash HashKey(const KeyHashSeed& seed, std::string_view key) {
  State state{.v0 = 0x736f6d6570736575 ^ seed.k0,
              .v1 = 0x646f72616e646f6d ^ seed.k1 ^ 0xee,
              .v2 = 0x6c7967656e657261 ^ seed.k0,
              .v3 = 0x7465646279746573 ^ seed.k1};
  const uint64_t length = key.size();
  for (; key.size() >= sizeof(uint64_t); key.remove_prefix(sizeof(uint64_t))) {
    uint64_t word = 0;
    std::memcpy(&word, key.data(), sizeof word);
    state.Compress(word);
  }
  uint64_t last = length << 56;
  for (size_t i = 0; i < key.size(); ++i) {
    last |= static_cast<uint64_t>(static_cast<uint8_t>(key[i])) << (8 * i);
  }
  state.Compress(last);
  state.v2 ^= 0xee;
  KeyHash hash;
  hash.low = state.Finish();
  state.v1 ^= 0xdd;
  hash.high = state.Finish();
  return hash;
}

}  // namespace berth::store::rocks
