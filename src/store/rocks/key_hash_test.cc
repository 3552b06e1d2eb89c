#include "store/rocks/key_hash.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

namespace berth::store::rocks {
namespace {

constexpr KeyHashSeed kSeed{.k0 = 0x0706050403020100, .k1 = 0x0f0e0d0c0b0a0908};

/// Returns the bytes 0, 1, 2 and so on, as in the published test vectors.
std::string Counting(size_t length) {
  std::string bytes;
  for (size_t i = 0; i < length; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

std::string Hex(const KeyHash& hash) {
  std::string text;
  for (const uint64_t word : {hash.low, hash.high}) {
    for (unsigned i = 0; i < 8; ++i) {
      const auto byte = static_cast<uint8_t>(word >> (8 * i));
      text += "0123456789ABCDEF"[byte >> 4];
      text += "0123456789ABCDEF"[byte & 15];
    }
  }
  return text;
}

TEST(KeyHash, IsSipHash) {
  // The values are from `openssl mac -macopt hexkey:000102...0f -macopt size:16 SIPHASH`.
  EXPECT_EQ(Hex(HashKey(kSeed, Counting(0))), "A3817F04BA25A8E66DF67214C7550293");
  EXPECT_EQ(Hex(HashKey(kSeed, Counting(1))), "DA87C1D86B99AF44347659119B22FC45");
  EXPECT_EQ(Hex(HashKey(kSeed, Counting(7))), "A1F1EBBED8DBC153C0B84AA61FF08239");
  EXPECT_EQ(Hex(HashKey(kSeed, Counting(8))), "3B62A9BA6258F5610F83E264F31497B4");
  EXPECT_EQ(Hex(HashKey(kSeed, Counting(15))), "5493E99933B0A8117E08EC0F97CFC3D9");
  EXPECT_EQ(Hex(HashKey(kSeed, Counting(16))), "6EE2A4CA67B054BBFD3315BF85230577");
  EXPECT_EQ(Hex(HashKey(kSeed, Counting(63))), "5150D1772F50834A503E069A973FBD7C");
}

TEST(KeyHash, DependsOnTheSeed) {
  const KeyHashSeed other{.k0 = kSeed.k0, .k1 = kSeed.k1 + 1};
  EXPECT_NE(HashKey(kSeed, "/registry/a"), HashKey(other, "/registry/a"));
}

}  // namespace
}  // namespace berth::store::rocks
