// Bytes with their number before them, in as few bytes as the number needs (LEB128): what follows
// an object in its allocation. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::state {

/// How many bytes the two take together.
constexpr size_t SizeWithCount(std::string_view bytes) {
  size_t size = 1 + bytes.size();
  for (size_t count = bytes.size(); count >= 0x80; count >>= 7) ++size;
  return size;
}

/// Puts them at `at`, where there is room; returns what lies behind.
inline char* PutWithCount(char* at, std::string_view bytes) {
  size_t count = bytes.size();
  for (; count >= 0x80; count >>= 7) *at++ = static_cast<char>(count | 0x80);
  *at++ = static_cast<char>(count);
  return at + bytes.copy(at, bytes.size());
}

inline void AppendWithCount(std::string& out, std::string_view bytes) {
  const size_t begin = out.size();
  out.resize(begin + SizeWithCount(bytes));
  PutWithCount(out.data() + begin, bytes);
}

/// The bytes that were put at `at`.
inline std::string_view BytesAt(const char* at) {
  size_t count = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*at++);
    count |= static_cast<size_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return {at, count};
  }
}

}  // namespace berth::state
