// Numbers and marks of the snapshot format (store/snapshot_file.h), for its writer and its reader.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::store {

inline constexpr std::string_view kSnapshotMagic = "berth snapshot\n";
inline constexpr char kBlockMark = 'B';
inline constexpr char kTrailerMark = 'E';

template <std::unsigned_integral T>
void AppendNumber(std::string& out, T number) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(number >> 8 * i & 0xFF);
}

inline void AppendSigned(std::string& out, int64_t number) {
  AppendNumber(out, static_cast<uint64_t>(number));
}

/// Decodes a number from exactly its bytes.
inline uint64_t NumberOf(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

}  // namespace berth::store
