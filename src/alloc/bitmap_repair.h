// One pass of the repair loops of bitmap mode: what a range's bitmap has to be, given what the
// Services hold, and what is to be told to people about it, in Kubernetes' words. Pure.
//
// A bit that no Service explains may belong to a write on its way. It is kept for two passes and
// dropped in the third one in a row in which it is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/range_allocation.h"
#include "base/result.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::alloc {

/// In how many passes in a row a value was seen that nobody holds.
using Leaks = std::map<U128, int>;

struct Finding {
  enum class Kind : uint8_t {
    kRepair,      ///< held, but not in the bitmap
    kDuplicate,   ///< held twice
    kOutOfRange,  ///< held, but not a value of the range
    kLeak,        ///< in the bitmap for too long without being held
    kInvalid,     ///< not an address, or one of a family that has no range
  };
  Kind kind = Kind::kRepair;
  std::string owner = {};  ///< As the caller named who holds it; nobody holds a leak.
  // The event to be raised about the owner, if there is one.
  std::string reason = {};
  std::string action = {};
  std::string note = {};

  bool operator==(const Finding&) const = default;
};

/// The metrics' label: "repair", "outOfRange", ...
std::string_view TypeOf(Finding::Kind kind);

/// Who reports.
inline constexpr std::string_view kPortRepairer = "portallocator-repair-controller";
inline constexpr std::string_view kAddressRepairer = "ipallocator-repair-controller";

struct RepairedBitmap {
  RangeAllocation bitmap = {};  ///< To be stored, if it is not what is.
  Leaks leaks = {};             ///< For the next pass.
};

struct PortHolding {
  uint16_t port = 0;
  std::string owner = {};
};

struct RepairedPorts {
  RepairedBitmap ports = {};
  std::vector<Finding> findings = {};
};

/// `stored`: nothing when there is none. It may be of another range, whose values are taken over as
/// far as this one has them. Fails when what is stored has no range that can be read.
base::Result<RepairedPorts> RepairPorts(const ip::PortRange& range,
                                        const std::optional<RangeAllocation>& stored,
                                        std::span<const PortHolding> holdings, const Leaks& leaks);

struct AddressHolding {
  std::string address = {};  ///< As the Service has it, whatever that is.
  std::string owner = {};
};

/// The range of a family.
struct AddressBitmap {
  ip::Cidr range;
  std::optional<RangeAllocation> stored = {};
  Leaks leaks = {};
};

struct RepairedAddresses {
  std::vector<RepairedBitmap> ranges = {};  ///< As they were given.
  std::vector<Finding> findings = {};
};

/// All families in one pass. At most one range of each.
base::Result<RepairedAddresses> RepairAddresses(std::span<const AddressBitmap> ranges,
                                                std::span<const AddressHolding> holdings);

}  // namespace berth::alloc
