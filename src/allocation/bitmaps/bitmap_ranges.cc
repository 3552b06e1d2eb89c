#include "allocation/bitmaps/bitmap_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::allocation {
namespace {

constexpr int kMaxHostBits = 20;

constexpr alloc::PerPool<std::string_view> kFirstRanges = {
    {"allocator.ipv4.k8s.io", "allocator.ipv6.k8s.io", "allocator.nodeport.k8s.io"}};
constexpr std::string_view kFirstServiceCidr = "kubernetes";

const alloc::RangeRow* FirstRange(const std::vector<alloc::RangeRow>& rows, alloc::PoolId pool) {
  const auto named = [&rows](std::string_view name) -> const alloc::RangeRow* {
    const auto found = std::ranges::find(rows, name, &alloc::RangeRow::name);
    return found == rows.end() ? nullptr : &*found;
  };
  if (const alloc::RangeRow* row = named(kFirstRanges[pool])) return row;
  if (const alloc::RangeRow* row = named(kFirstServiceCidr)) return row;
  return rows.empty() ? nullptr : rows.data();
}

/// Returns the same layout without the values that have no bit.
alloc::Layout Within(const BitmapLayout& bits, const ip::Cidr& cidr, const alloc::Layout& layout) {
  const auto band = layout.BandSpan(alloc::Band::kStatic);
  alloc::RangeOptions options{.static_band = band ? band->Size() : 0,
                              .strict = layout.strict(),
                              .excluded = layout.excluded()};
  const U128 beyond = bits.ValueOf(bits.bits());
  const U128 last = cidr.Last().bits();
  if (beyond != 0 && beyond <= last) options.excluded.push_back({beyond, last});
  return alloc::LayoutOf(cidr, options).value_or(layout);
}

std::optional<PoolBitmap> FitPool(std::vector<alloc::RangeRow>& rows, alloc::PoolId pool,
                                  bool primary) {
  const alloc::RangeRow* first = FirstRange(rows, pool);
  const auto layout = first == nullptr ? std::nullopt : ParseBitmapLayout(first->text);
  if (!layout) {
    rows.clear();
    return std::nullopt;
  }
  alloc::RangeRow row = *first;
  if (pool == alloc::PoolId::kIpv6)
    row.layout = Within(*layout, *ip::ParseCidr(row.text), row.layout);
  if (std::exchange(row.makes_way, false)) row.open = true;  // The others cannot serve.
  row.cool_down = {};  // A bitmap cannot say that a value is cooling.
  rows = {std::move(row)};
  if (pool == alloc::PoolId::kPorts) return PoolBitmap{.id = BitmapId::kPorts, .layout = *layout};
  return PoolBitmap{.id = primary ? BitmapId::kPrimary : BitmapId::kSecondary, .layout = *layout};
}

bool IsSameRange(const alloc::RangeRow& one, const alloc::RangeRow& other) {
  return one.kind == other.kind && one.name == other.name && one.text == other.text;
}

}  // namespace

std::optional<base::Error> CheckBitmapRange(const ip::Cidr& cidr, std::string_view flag) {
  if (cidr.host_bits() <= kMaxHostBits) return std::nullopt;
  const int width = cidr.host_bits() + cidr.prefix_length();
  return base::Error{.reason = base::Reason::kInvalid,
                     .message = fmt::format(
                         "specified {} is too large; for {}-bit addresses, the mask must be >= {}",
                         flag, width, width - kMaxHostBits)};
}

PoolBitmaps FitIntoBitmaps(alloc::RangeTable& table) {
  PoolBitmaps bitmaps;
  for (const alloc::PoolId pool : alloc::kAllPools) {
    bitmaps[pool] = FitPool(table.rows[pool], pool, table.primary == pool);
  }
  return bitmaps;
}

std::vector<alloc::RangeFacts::Part> RowsLeftOut(const alloc::RangeTable& all,
                                                 const alloc::RangeTable& fitting) {
  std::vector<alloc::RangeFacts::Part> left_out;
  for (const alloc::PoolId pool : alloc::kAllPools) {
    for (const alloc::RangeRow& row : all.rows[pool]) {
      const auto same = [&row](const alloc::RangeRow& fits) { return IsSameRange(row, fits); };
      if (std::ranges::any_of(fitting.rows[pool], same)) continue;
      left_out.push_back({.pool = pool, .row = row});
    }
  }
  return left_out;
}

std::optional<BitmapLayout> ParseBitmapLayout(std::string_view range) {
  if (const auto cidr = ip::ParseCidr(range)) return BitmapLayout::Of(*cidr);
  if (const auto ports = ip::ParsePortRange(range)) return BitmapLayout::Of(*ports);
  return std::nullopt;
}

}  // namespace berth::allocation
