// Byte strings with their length before them, as they follow an object in its allocation. The
// length takes as few bytes as it needs (LEB128). Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::state {

/// Returns how many bytes the length and the bytes take together.
constexpr size_t SizeWithCount(std::string_view bytes) {
  size_t size = 1 + bytes.size();
  for (size_t count = bytes.size(); count >= 0x80; count >>= 7) ++size;
  return size;
}

/// Writes the length and the bytes at `at`, where there must be room. Returns the end of what it
/// wrote.
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

/// Returns the bytes that were written at `at`.
inline std::string_view BytesAt(const char* at) {
  size_t count = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*at++);
    count |= static_cast<size_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return {at, count};
  }
}

}  // namespace berth::state
