// Packs the text of a UUID into 16 bytes instead of 36. A text is packed only if unpacking restores
// it byte for byte. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth::base {

inline constexpr size_t kUuidSize = 36;
using PackedUuid = std::array<char, 16>;

/// Packs a text like `c0ffee00-0000-4000-8000-000000000001`. Returns nullopt for any other text,
/// also if it has capital letters.
std::optional<PackedUuid> PackUuid(std::string_view text);
void AppendUuid(std::string& out, const PackedUuid& packed);

}  // namespace berth::base
