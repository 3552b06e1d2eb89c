#include "allocation/bitmaps/bitmap_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace berth::allocation {

BitmapLayout BitmapLayout::Of(const ip::Cidr& cidr) {
  constexpr U128 kMaxV6Bits = 65535;
  const U128 size = cidr.Size();
  U128 bits = cidr.family() == ip::Family::kV6 ? std::min(size - 1, kMaxV6Bits) : 0;
  if (cidr.family() == ip::Family::kV4 && size > 2) bits = size - 2;
  return {cidr.ToString(), "the provided network does not match the current range",
          cidr.First().bits() + 1, static_cast<uint64_t>(bits)};
}

BitmapLayout BitmapLayout::Of(const ip::PortRange& ports) {
  return {ports.ToString(), "the provided port range does not match the current port range",
          ports.first(), ports.Size()};
}

base::Error BitmapLayout::Mismatch() const {
  return {.reason = base::Reason::kInvalid, .message = std::string(mismatch_)};
}

base::Result<BitmapLayout::Decoded> BitmapLayout::Decode(const RangeAllocation& stored) const {
  if (stored.range != range_) return tl::unexpected(Mismatch());
  Decoded decoded;
  const size_t size = stored.data.size();
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<uint8_t>(stored.data[size - 1 - i]);
    for (unsigned rest = byte; rest != 0; rest &= rest - 1) {
      const uint64_t bit = 8 * i + static_cast<uint64_t>(std::countr_zero(rest));
      if (bit < bits_) {
        decoded.values.push_back(first_ + bit);
      } else {
        ++decoded.bits_beyond;
      }
    }
  }
  return decoded;
}

base::Result<RangeAllocation> BitmapLayout::Encode(const alloc::Index& index) const {
  std::string little_endian;
  std::optional<U128> homeless;
  index.ForEach(alloc::State::kTaken, [&](U128 value) {
    if (value < first_ || value - first_ >= bits_) {
      homeless = homeless.value_or(value);
      return;
    }
    const auto bit = static_cast<uint64_t>(value - first_);
    if (little_endian.size() <= bit / 8) little_endian.resize(bit / 8 + 1, '\0');
    little_endian[bit / 8] = static_cast<char>(little_endian[bit / 8] | (1 << bit % 8));
  });
  if (homeless) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("value {} of {} cannot be stored in a bitmap, which has only the "
                                  "first {} values of the range",
                                  base::ToDecimal(*homeless), range_, bits_));
  }
  return RangeAllocation{.range = range_, .data = {little_endian.rbegin(), little_endian.rend()}};
}

}  // namespace berth::allocation
