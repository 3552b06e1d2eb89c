// Takes the times out of a text. Managed fields of objects that were written in the same way differ
// only in their times, so objects can share the rest. Any text may be given, and filling the times
// in again restores it byte for byte.
//
// A time is the 20 bytes of the value in "time":"2026-11-15T17:17:39Z". Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::state {

inline constexpr size_t kTimeSize = 20;

/// Times after the first kMostTimes stay in the text.
inline constexpr size_t kMostTimes = 64;

struct TextWithGaps {
  /// The rest of the text, together with the positions of the times. Only the functions below read
  /// it. Two are equal only if both text and positions are.
  std::string gapped;
  std::string times;  // kTimeSize bytes for each.
};

/// Returns where the next time begins, or npos if there are no more times.
size_t FindTime(std::string_view text, size_t from);

TextWithGaps TakeTimesOut(std::string_view text);

/// Returns the size of `times` that belongs to `gapped`.
size_t TimesSize(std::string_view gapped);

/// Returns the length of the text with its times.
size_t FilledSize(std::string_view gapped);

void AppendFilled(std::string& out, std::string_view gapped, std::string_view times);

}  // namespace berth::state
