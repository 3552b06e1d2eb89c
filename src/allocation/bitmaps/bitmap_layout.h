// A range and its bitmap as Kubernetes stores them (RangeAllocation), byte for byte.
//
// `range` is the text of the range. `data` is the integer whose bit i says whether the i-th value
// is taken, in big-endian bytes without leading zero bytes. If no value is taken, `data` is empty.
// Bit 0 is the first usable address of a CIDR (network + 1), or the first port of a port range.
//
//   10.0.0.0/24 with 10.0.0.1 and 10.0.0.10 taken: bits 0 and 9, the integer 0x201, bytes 02 01.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/index.h"
#include "base/result.h"
#include "base/uint128.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::allocation {

using alloc::U128;

struct RangeAllocation {
  std::string range;
  std::string data;

  bool operator==(const RangeAllocation&) const = default;
};

/// Which value each bit of a range's bitmap stands for.
class BitmapLayout {
 public:
  /// Only the first 65,536 addresses of an IPv6 range have a bit, whatever its size.
  static BitmapLayout Of(const ip::Cidr& cidr);
  static BitmapLayout Of(const ip::PortRange& ports);

  /// The text of the range, as it is stored.
  const std::string& range() const { return range_; }
  uint64_t bits() const { return bits_; }
  /// Returns Kubernetes' error for a bitmap that is stored for another range.
  base::Error Mismatch() const;

  /// Returns nullopt if the value has no bit.
  std::optional<uint64_t> BitOf(U128 value) const {
    if (value < first_ || value - first_ >= bits_) return std::nullopt;
    return static_cast<uint64_t>(value - first_);
  }
  /// Returns the value of a bit, which may lie beyond the range.
  U128 ValueOf(uint64_t bit) const { return first_ + bit; }

  struct Decoded {
    std::vector<U128> values = {};  ///< Ascending.
    uint64_t bits_beyond = 0;       ///< Set bits without a value. Kubernetes keeps them too.
  };

  /// Returns the taken values. Fails with Mismatch() if the stored range is another one.
  base::Result<Decoded> Decode(const RangeAllocation& stored) const;

  /// Returns what is stored for these values. Fails if a taken value has no bit, and names it.
  base::Result<RangeAllocation> Encode(const alloc::Index& index) const;

 private:
  BitmapLayout(std::string range, std::string_view mismatch, U128 first, uint64_t bits)
      : range_(std::move(range)), mismatch_(mismatch), first_(first), bits_(bits) {}

  std::string range_;
  std::string_view mismatch_;  ///< The message of Mismatch().
  U128 first_;
  uint64_t bits_;
};

}  // namespace berth::allocation
