// The stored form of a range in bitmap mode: Kubernetes' RangeAllocation, byte for byte.
//
// `range` is the text of the range. `data` is the integer whose bit i says whether the i-th value
// is taken, in big-endian bytes without leading zero bytes; nothing taken is no bytes at all. Bit 0
// is the first usable address of a CIDR (network + 1), or the first port of a port range.
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

namespace berth::alloc {

struct RangeAllocation {
  std::string range;
  std::string data;

  bool operator==(const RangeAllocation&) const = default;
};

/// Which value each bit of a range's bitmap stands for.
class BitmapForm {
 public:
  /// Of an IPv6 range only the first 65,536 addresses have a bit, whatever its size.
  static BitmapForm Of(const ip::Cidr& cidr);
  static BitmapForm Of(const ip::PortRange& ports);

  /// The text of the range, as it is stored.
  const std::string& range() const { return range_; }
  uint64_t bits() const { return bits_; }
  /// What is said of a stored range that is another one.
  base::Error Mismatch() const;

  /// Nothing: the value has none.
  std::optional<uint64_t> BitOf(U128 value) const {
    if (value < first_ || value - first_ >= bits_) return std::nullopt;
    return static_cast<uint64_t>(value - first_);
  }
  /// The bit may lie beyond the range.
  U128 ValueOf(uint64_t bit) const { return first_ + bit; }

  struct Decoded {
    std::vector<U128> values = {};  ///< ascending
    uint64_t bits_beyond = 0;       ///< set bits that stand for no value; Kubernetes keeps them too
  };

  /// Fails when the stored range is not this one, with Kubernetes' words for it.
  base::Result<Decoded> Decode(const RangeAllocation& stored) const;

  /// Fails when a taken value has no bit, naming it.
  base::Result<RangeAllocation> Encode(const Index& index) const;

 private:
  BitmapForm(std::string range, std::string_view mismatch, U128 first, uint64_t bits)
      : range_(std::move(range)), mismatch_(mismatch), first_(first), bits_(bits) {}

  std::string range_;
  std::string_view mismatch_;  ///< what to say when the stored range is another one
  U128 first_;
  uint64_t bits_;
};

}  // namespace berth::alloc
