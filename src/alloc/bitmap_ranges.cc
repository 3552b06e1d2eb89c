#include "alloc/bitmap_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::alloc {
namespace {

constexpr int kMaxHostBits = 20;

constexpr std::array<std::string_view, kPools> kFirstRanges = {
    "allocator.ipv4.k8s.io", "allocator.ipv6.k8s.io", "allocator.nodeport.k8s.io"};
constexpr std::string_view kFirstServiceCidr = "kubernetes";

const RangeRow* FirstRange(const std::vector<RangeRow>& rows, PoolId pool) {
  const auto named = [&rows](std::string_view name) -> const RangeRow* {
    const auto found = std::ranges::find(rows, name, &RangeRow::name);
    return found == rows.end() ? nullptr : &*found;
  };
  if (const RangeRow* row = named(kFirstRanges[static_cast<size_t>(pool)])) return row;
  if (const RangeRow* row = named(kFirstServiceCidr)) return row;
  return rows.empty() ? nullptr : rows.data();
}

/// The same layout without the values that have no bit.
Layout Within(const BitmapForm& form, const ip::Cidr& cidr, const Layout& layout) {
  const auto band = layout.BandSpan(Band::kStatic);
  RangeOptions options{.static_band = band ? band->Size() : 0,
                       .strict = layout.strict(),
                       .excluded = layout.excluded()};
  const U128 behind = form.ValueOf(form.bits());
  const U128 last = cidr.Last().bits();
  if (behind != 0 && behind <= last) options.excluded.push_back({behind, last});
  return LayoutOf(cidr, options).value_or(layout);
}

std::optional<PoolBitmap> FitPool(std::vector<RangeRow>& rows, PoolId pool, bool primary) {
  const RangeRow* first = FirstRange(rows, pool);
  const auto form = first == nullptr ? std::nullopt : ParseBitmapForm(first->text);
  if (!form) {
    rows.clear();
    return std::nullopt;
  }
  RangeRow row = *first;
  if (pool == PoolId::kIpv6) row.layout = Within(*form, *ip::ParseCidr(row.text), row.layout);
  row.cool_down = {};  // There is no way to say that a value is cooling.
  rows = {std::move(row)};
  if (pool == PoolId::kPorts) return PoolBitmap{.id = BitmapId::kPorts, .form = *form};
  return PoolBitmap{.id = primary ? BitmapId::kPrimary : BitmapId::kSecondary, .form = *form};
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

base::Result<Layout> BitmapLayoutOf(const ip::Cidr& cidr, RangeOptions options) {
  const BitmapForm form = BitmapForm::Of(cidr);
  const U128 behind = form.ValueOf(form.bits());
  const U128 last = cidr.Last().bits();
  // Of IPv4 only the broadcast address is left, which is not usable anyway.
  const bool ends_early = cidr.family() == ip::Family::kV6 && behind > 0 && behind <= last;
  if (ends_early) options.excluded.push_back({.first = behind, .last = last});
  return LayoutOf(cidr, options);
}

std::vector<U128> WithoutBit(const BitmapForm& form, std::span<const U128> values) {
  std::vector<U128> without;
  for (const U128 value : values) {
    if (!form.BitOf(value)) without.push_back(value);
  }
  return without;
}

PoolBitmaps FitIntoBitmaps(RangeTable& table) {
  PoolBitmaps bitmaps;
  for (size_t i = 0; i < kPools; ++i) {
    const auto pool = static_cast<PoolId>(i);
    bitmaps[i] = FitPool(table.rows[i], pool, table.primary == pool);
  }
  return bitmaps;
}

std::optional<BitmapForm> ParseBitmapForm(std::string_view range) {
  if (const auto cidr = ip::ParseCidr(range)) return BitmapForm::Of(*cidr);
  if (const auto ports = ip::ParsePortRange(range)) return BitmapForm::Of(*ports);
  return std::nullopt;
}

}  // namespace berth::alloc
