// Text with its times taken out: managed fields of objects that were made alike differ in nothing
// else, so what is left over is worth sharing. Any text may be given; it comes back byte for byte.
//
// A time is 20 bytes that stand like this: "time":"2026-11-15T17:17:39Z". Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::state {

inline constexpr size_t kTimeSize = 20;

/// Of further times all bytes stay where they are.
inline constexpr size_t kMostTimes = 64;

struct TextWithGaps {
  /// What is left, with notes of where the times go; equal only if both are. For the functions
  /// below.
  std::string gapped;
  std::string times;  // Of kTimeSize each.
};

/// Where the next time begins; npos: there is none.
size_t FindTime(std::string_view text, size_t from);

TextWithGaps TakeTimesOut(std::string_view text);

/// How many bytes of times belong to it.
size_t TimesSize(std::string_view gapped);

/// How long the text is with its times.
size_t FilledSize(std::string_view gapped);

void AppendFilled(std::string& out, std::string_view gapped, std::string_view times);

}  // namespace berth::state
