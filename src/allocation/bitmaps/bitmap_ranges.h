// The three bitmaps, and the ranges that they have room for. A bitmap is one value in the store, so
// its size is limited: Kubernetes allows ranges of up to 20 bits of addresses, and of an IPv6 range
// only the first 65,536 addresses have a bit. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "alloc/layout.h"
#include "alloc/pool_id.h"
#include "alloc/range_table.h"
#include "allocation/bitmaps/bitmap_layout.h"
#include "base/error.h"
#include "base/result.h"
#include "ip/cidr.h"

namespace berth::allocation {

/// Returns an error if the range is too large for a bitmap, in Kubernetes' words for the flag that
/// names it ("--service-cluster-ip-range", for the second range with "[1]").
std::optional<base::Error> CheckBitmapRange(const ip::Cidr& cidr, std::string_view flag);

/// The bitmaps that exist; the store has a key for each.
enum class BitmapId : uint8_t { kPorts, kSecondary, kPrimary };

/// An element for each bitmap, in the order of BitmapId.
template <typename T>
struct PerBitmap : std::array<T, 3> {
  using std::array<T, 3>::operator[];
  constexpr T& operator[](BitmapId id) { return (*this)[static_cast<size_t>(id)]; }
  constexpr const T& operator[](BitmapId id) const { return (*this)[static_cast<size_t>(id)]; }
};

/// The bitmap of a pool's values.
struct PoolBitmap {
  BitmapId id = BitmapId::kPrimary;
  BitmapLayout layout;
};
struct PoolBitmaps : alloc::PerPool<std::optional<PoolBitmap>> {};

/// Removes from a table what bitmaps have no room for. Returns the bitmap of each pool. Each pool
/// keeps the range that a cluster begins with (allocator.ipv4.k8s.io and the like, else the
/// ServiceCIDR `kubernetes`, else the first), and of that range the values that have a bit. The
/// table says which address bitmap is the primary one.
PoolBitmaps FitIntoBitmaps(alloc::RangeTable& table);

/// Returns the rows of a table that are missing in what fits into bitmaps.
std::vector<alloc::RangeFacts::Part> RowsLeftOut(const alloc::RangeTable& all,
                                                 const alloc::RangeTable& fitting);

/// Returns the layout of a bitmap by the text of its range, or nullopt if the text is no range.
std::optional<BitmapLayout> ParseBitmapLayout(std::string_view range);

}  // namespace berth::allocation
