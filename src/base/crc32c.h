// The CRC-32C (Castagnoli) checksum, which finds damage in files. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::base {

/// Returns the checksum of `bytes` appended to bytes with the checksum `before`.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);

}  // namespace berth::base
