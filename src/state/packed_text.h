// Text of a well-known form in fewer bytes: a UUID in 16 instead of 36, a time in 4 instead of 20.
// What does not come back byte for byte is not packed. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::state {

inline constexpr size_t kUuidSize = 36;
using PackedUuid = std::array<char, 16>;

/// Of `c0ffee00-0000-4000-8000-000000000001`; capital letters are not packed.
std::optional<PackedUuid> PackUuid(std::string_view text);
void AppendUuid(std::string& out, const PackedUuid& packed);

/// Seconds since 1970 of `2026-11-15T17:17:39Z`; years behind 2105 are not packed.
std::optional<uint32_t> PackTime(std::string_view text);
void AppendTime(std::string& out, uint32_t packed);

}  // namespace berth::state
