// What a range is made of before anything is allocated: which values are usable, which part is the
// static band, which values are never given out. Pure values, immutable once made.
//
// A value is the number of an address or of a port; a range holds values of one kind only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/uint128.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::alloc {

using base::U128;

/// Inclusive at both ends, never empty.
struct Interval {
  U128 first = 0;
  U128 last = 0;

  constexpr U128 Size() const { return last - first + 1; }
  constexpr bool Contains(U128 value) const { return first <= value && value <= last; }
  constexpr bool operator==(const Interval&) const = default;
};

/// What two intervals have in common; nothing when they are apart.
std::optional<Interval> Intersection(const Interval& a, const Interval& b);

/// The same values in ascending, disjoint intervals that do not touch.
std::vector<Interval> MergedIntervals(std::vector<Interval> intervals);

/// The two parts of a range. Dynamic requests take the dynamic (upper) band first.
enum class Band : uint8_t { kStatic, kDynamic };

/// Size of the static band by Kubernetes' formulas: none for 16 values or fewer, else a sixteenth
/// of the addresses within 16..256 (KEP-3070), or a 32nd of the ports within 16..128 (KEP-3668).
/// Prefixes /0 and /1 have no band, because Kubernetes computes their size as 0.
uint64_t StaticBandSize(const ip::Cidr& cidr);
uint64_t StaticBandSize(const ip::PortRange& ports);

/// What an operator may change about a range.
struct RangeOptions {
  std::optional<U128> static_band = std::nullopt;  ///< instead of the formula; 0 is "no band"
  bool strict = false;  ///< dynamic requests never spill into the static band
  std::vector<Interval> excluded =
      {};  ///< never given out; may overlap, may reach beyond the range
};

/// Values of the range that can never be given out, and why.
struct Unusable {
  Interval values;
  std::string_view why;

  bool operator==(const Unusable&) const = default;
};

class Layout {
 public:
  /// The first and last usable value; nothing when no value of the range is usable (a /32).
  /// Between them only `excluded` values cannot be given out.
  const std::optional<Interval>& span() const { return span_; }

  /// Usable values: `span` without the holes that `unusable` names.
  U128 Usable() const { return usable_; }

  /// The values of a band; nothing when it is empty. The bands split `span`.
  std::optional<Interval> BandSpan(Band band) const;

  /// In which band a value of `span` lies.
  Band BandOf(U128 value) const {
    return value - span_->first < static_size_ ? Band::kStatic : Band::kDynamic;
  }

  bool strict() const { return strict_; }

  /// Sorted, disjoint, not touching, inside `span`: the operator's exclusions and the holes.
  const std::vector<Interval>& excluded() const { return excluded_; }

  /// In ascending order.
  const std::vector<Unusable>& unusable() const { return unusable_; }

  bool Contains(U128 value) const { return span_ && span_->Contains(value); }

  /// The same without the values outside of `part`; those that stay stay in their band. Nothing:
  /// none stays.
  std::optional<Layout> Within(const Interval& part) const;

  bool operator==(const Layout&) const = default;

  friend base::Result<Layout> LayoutOf(const ip::Cidr& cidr, const RangeOptions& options);
  friend base::Result<Layout> LayoutOf(const ip::PortRange& ports, const RangeOptions& options);

 private:
  static base::Result<Layout> Make(Interval all, std::vector<Unusable> unusable,
                                   uint64_t formula_band, const RangeOptions& options);

  std::optional<Interval> span_;
  U128 usable_ = 0;
  U128 static_size_ = 0;
  bool strict_ = false;
  std::vector<Interval> excluded_;
  std::vector<Unusable> unusable_;
};

/// Fails when `options.static_band` is larger than what is usable.
///
/// Usable are all addresses but the network address and, for IPv4, the broadcast address. Two
/// blocks of IPv6 are never usable, because their addresses have no name of their own: ::/96, whose
/// decimal names are those of IPv4 addresses, and ::ffff:0:0/96, which is IPv4 written as IPv6.
base::Result<Layout> LayoutOf(const ip::Cidr& cidr, const RangeOptions& options = {});

/// Usable are all ports but 0, which means "no port" in the API.
base::Result<Layout> LayoutOf(const ip::PortRange& ports, const RangeOptions& options = {});

}  // namespace berth::alloc
