#include "base/packed_uuid.h"

#include <cstdint>

namespace berth::base {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

constexpr bool IsDash(size_t place) {
  return place == 8 || place == 13 || place == 18 || place == 23;
}

/// Returns the value of a hexadecimal digit, or 16 if `digit` is not one.
constexpr unsigned HexValue(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  return digit >= 'a' && digit <= 'f' ? static_cast<unsigned>(digit - 'a') + 10 : 16;
}

}  // namespace

std::optional<PackedUuid> PackUuid(std::string_view text) {
  if (text.size() != kUuidSize) return std::nullopt;
  PackedUuid packed;
  size_t at = 0;
  for (char& byte : packed) {
    if (IsDash(at)) {
      if (text[at] != '-') return std::nullopt;
      ++at;
    }
    const unsigned high = HexValue(text[at++]);
    const unsigned low = HexValue(text[at++]);
    if (high > 15 || low > 15) return std::nullopt;
    byte = static_cast<char>(high << 4 | low);
  }
  return packed;
}

void AppendUuid(std::string& out, const PackedUuid& packed) {
  std::array<char, kUuidSize> text;
  size_t at = 0;
  for (const char byte : packed) {
    if (IsDash(at)) text[at++] = '-';
    text[at++] = kHex[static_cast<uint8_t>(byte) >> 4];
    text[at++] = kHex[static_cast<uint8_t>(byte) & 0xfU];
  }
  out.append(text.data(), at);
}

}  // namespace berth::base
