#include "inspect/safe_values.h"

#include <algorithm>

namespace berth::inspect {
namespace {

using alloc::Band;
using alloc::Interval;
using alloc::PoolId;
using alloc::PoolValue;

// Bands are wider only if an operator made them so, and then nearly every value is free.
constexpr uint64_t kMostTries = 4096;
constexpr base::U128 kTenth = 10;

}  // namespace

SafeValues::SafeValues(const Census& census, std::vector<RangeRef> ranges, HostPorts host_ports,
                       const ip::PortRange& ephemeral)
    : census_(census),
      ranges_(std::move(ranges)),
      host_ports_(std::move(host_ports)),
      ephemeral_(ephemeral) {}

std::optional<SafeValue> SafeValues::Propose(const PoolValue& asked, std::string_view service,
                                             bool only_same) {
  for (const bool same : {true, false}) {
    if (!same && only_same) break;
    for (const RangeRef& range : ranges_) {
      const bool contains = range.row->layout.Contains(asked.value);
      if (range.pool != asked.pool || !range.row->open || contains != same) continue;
      if (auto safe = ProposeFrom(range, service)) return safe;
    }
  }
  return std::nullopt;
}

std::optional<SafeValue> SafeValues::ProposeFrom(const RangeRef& range, std::string_view service) {
  const std::optional<Interval> band = range.row->layout.BandSpan(Band::kStatic);
  if (!band) return std::nullopt;
  const base::U128 size = band->Size();
  const auto tries = static_cast<uint64_t>(std::min<base::U128>(size, kMostTries));
  const base::U128 start = StableHash(service) % size;
  for (uint64_t i = 0; i < tries; ++i) {
    const PoolValue value{.pool = range.pool, .value = band->first + (start + i) % size};
    if (!IsSafe(range, value)) continue;
    Exclude(value);
    return SafeValue{.value = value, .band = *band};
  }
  return std::nullopt;
}

bool SafeValues::IsSafe(const RangeRef& range, const PoolValue& value) const {
  if (excluded_.contains({value.pool, value.value})) return false;
  if (census_.StateIn(*range.row, value) != alloc::State::kFree) return false;
  if (value.pool == PoolId::kPorts) {
    const auto port = static_cast<uint16_t>(value.value);
    if (host_ports_.contains(port) || ephemeral_.Contains(port)) return false;
  } else {
    const base::U128 first = range.row->layout.span()->first;
    if (value.value == first || value.value == first + kTenth - 1) return false;
  }
  // Another range may contain it too, and pick it.
  return std::ranges::all_of(census_.RangesOf(value), [&](const RangeRef& other) {
    return !other.row->open || other.row->layout.BandOf(value.value) == Band::kStatic;
  });
}

uint64_t StableHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<uint8_t>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace berth::inspect
