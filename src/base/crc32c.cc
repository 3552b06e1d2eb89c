#include "base/crc32c.h"

#include <array>
#include <cstddef>

namespace berth::base {
namespace {

using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

/// Returns tables that process eight bytes at once. Table k is for a byte with k bytes after it.
constexpr CrcTables MakeCrcTables() {
  constexpr uint32_t kReversedPolynomial = 0x82f63b78;
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReversedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr CrcTables kCrc = MakeCrcTables();

uint32_t CrcWord(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i)
    word |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return word;
}

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t before) {
  uint32_t crc = ~before;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    const uint32_t low = crc ^ CrcWord(bytes, i);
    const uint32_t high = CrcWord(bytes, i + 4);
    crc = kCrc[7][low & 0xff] ^ kCrc[6][low >> 8 & 0xff] ^ kCrc[5][low >> 16 & 0xff] ^
          kCrc[4][low >> 24] ^ kCrc[3][high & 0xff] ^ kCrc[2][high >> 8 & 0xff] ^
          kCrc[1][high >> 16 & 0xff] ^ kCrc[0][high >> 24];
  }
  for (; i < bytes.size(); ++i)
    crc = (crc >> 8) ^ kCrc[0][(crc ^ static_cast<uint8_t>(bytes[i])) & 0xff];
  return ~crc;
}

}  // namespace berth::base
