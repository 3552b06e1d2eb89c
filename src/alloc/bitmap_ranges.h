// What ranges the bitmap model has room for. A bitmap is one value in the store, so it has to end
// somewhere: Kubernetes takes 20 bits of addresses, and of IPv6 only the first 65,536 of them.
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "alloc/layout.h"
#include "alloc/range_allocation.h"
#include "alloc/range_table.h"
#include "base/error.h"
#include "base/result.h"
#include "ip/cidr.h"

namespace berth::alloc {

/// Why the range is too large for a bitmap, in Kubernetes' words for the flag that names it
/// ("--service-cluster-ip-range", for the second one with "[1]"); nothing: it is not.
std::optional<base::Error> CheckBitmapRange(const ip::Cidr& cidr, std::string_view flag);

/// As LayoutOf, with all values excluded that have no bit.
base::Result<Layout> BitmapLayoutOf(const ip::Cidr& cidr, RangeOptions options = {});

/// Those that the bitmap cannot say that they are taken, in the order given.
std::vector<U128> WithoutBit(const BitmapForm& form, std::span<const U128> values);

/// Which of the three bitmaps there are; the store has a key for each.
enum class BitmapId : uint8_t { kPorts, kSecondary, kPrimary };

/// The bitmap of a pool's values.
struct PoolBitmap {
  BitmapId id = BitmapId::kPrimary;
  BitmapForm form;
};
using PoolBitmaps = std::array<std::optional<PoolBitmap>, kPools>;

/// Leaves of a table what bitmaps have room for, and says which bitmap each pool has: of each pool
/// the range that a cluster begins with (allocator.ipv4.k8s.io and the like, else the ServiceCIDR
/// `kubernetes`, else the first), and of that the values that have a bit. Which address bitmap is
/// the primary one is what the table says.
PoolBitmaps FitIntoBitmaps(RangeTable& table);

/// Which bitmap the text of its range says it to be; nothing: it is no range.
std::optional<BitmapForm> ParseBitmapForm(std::string_view range);

}  // namespace berth::alloc
