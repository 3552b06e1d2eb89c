// One pass of the repair loops for bitmaps: what the bitmap of a range has to be, given the values
// that Services hold, and what to report about it, in Kubernetes' words. Pure. Values that two
// Services hold or that the range does not contain are not repaired; the auditor reports them
// (controllers/auditor.h).
//
// A bit without a Service that holds its value may belong to a write in flight. Such a bit is kept
// in two passes, and dropped in the third pass in a row in which it is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/bitmaps/bitmap_layout.h"
#include "base/result.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::allocation {

/// Number of passes in a row in which a value without a holder was seen.
using Leaks = std::map<U128, int>;

struct Finding {
  enum class Kind : uint8_t {
    kRepair,   ///< Held, but not in the bitmap.
    kLeak,     ///< In the bitmap for too long without being held.
    kInvalid,  ///< No address, or of a family without a range.
  };
  Kind kind = Kind::kRepair;
  std::string owner = {};  ///< The holder, as the caller named it. A leak has no holder.
  // The event to raise about the owner. Empty if there is no event.
  std::string reason = {};
  std::string action = {};
  std::string note = {};

  bool operator==(const Finding&) const = default;
};

/// Returns the label for metrics: "repair", "leak", ...
std::string_view TypeOf(Finding::Kind kind);

struct RepairedBitmap {
  RangeAllocation bitmap = {};  ///< To be stored if it differs from what is stored.
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

/// Repairs the bitmap of a port range. `stored` is nullopt if there is no bitmap. It may be that of
/// another range: then its values are kept if they are in this range too. Fails if the stored range
/// cannot be read.
base::Result<RepairedPorts> RepairPorts(const ip::PortRange& range,
                                        const std::optional<RangeAllocation>& stored,
                                        std::span<const PortHolding> holdings, const Leaks& leaks);

struct AddressHolding {
  std::string address = {};  ///< The text in the Service, valid or not.
  std::string owner = {};
};

/// The range of a family, and its bitmap.
struct AddressBitmap {
  ip::Cidr range;
  std::optional<RangeAllocation> stored = {};
  Leaks leaks = {};
};

struct RepairedAddresses {
  std::vector<RepairedBitmap> ranges = {};  ///< In the order given.
  std::vector<Finding> findings = {};
};

/// Repairs the bitmaps of all families in one pass. There is at most one range of each family.
base::Result<RepairedAddresses> RepairAddresses(std::span<const AddressBitmap> ranges,
                                                std::span<const AddressHolding> holdings);

}  // namespace berth::allocation
