// Packs the text of a time into 4 bytes instead of 20. A text is packed only if unpacking restores
// it byte for byte. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::state {

/// Packs a text like `2026-11-15T17:17:39Z` into seconds since 1970. Returns nullopt for any other
/// text, and for times that do not fit: before 1970 and after 2106-02-07T06:28:15Z.
std::optional<uint32_t> PackTime(std::string_view text);
void AppendTime(std::string& out, uint32_t packed);

}  // namespace berth::state
