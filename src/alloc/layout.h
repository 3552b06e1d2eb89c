// The structure of a range before anything is allocated: which values are usable, which part is the
// static band, and which values are never given out. Layouts are immutable values.
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

/// Returns the values that two intervals have in common, or nullopt if they are disjoint.
std::optional<Interval> Intersection(const Interval& a, const Interval& b);

/// Returns the same values as ascending, disjoint intervals that do not touch.
std::vector<Interval> MergedIntervals(std::vector<Interval> intervals);

/// The two parts of a range. Dynamic requests take the dynamic (upper) band first.
enum class Band : uint8_t { kStatic, kDynamic };

/// Return the size of the static band by Kubernetes' formulas. A range of 16 values or fewer has no
/// static band. Otherwise the band is a sixteenth of the addresses within 16..256 (KEP-3070), or a
/// 32nd of the ports within 16..128 (KEP-3668). Prefixes /0 and /1 have no band, because Kubernetes
/// computes their size as 0.
uint64_t StaticBandSize(const ip::Cidr& cidr);
uint64_t StaticBandSize(const ip::PortRange& ports);

/// Options of a range that an operator may change.
struct RangeOptions {
  std::optional<U128> static_band = std::nullopt;  ///< Replaces the formula; 0 means no band.
  bool strict = false;  ///< Dynamic requests never spill into the static band.
  /// Values that are never given out. They may overlap, and may reach beyond the range.
  std::vector<Interval> excluded = {};
};

/// Values of the range that can never be given out, and the reason.
struct Unusable {
  Interval values;
  std::string_view why;

  bool operator==(const Unusable&) const = default;
};

class Layout {
 public:
  /// Returns the first and last usable value, or nullopt if the range has no usable value (a /32).
  /// Between them only `excluded` values cannot be given out.
  const std::optional<Interval>& span() const { return span_; }

  /// Returns the number of usable values: `span` without the holes that `unusable` names.
  U128 Usable() const { return usable_; }

  /// Returns the values of a band, or nullopt if it is empty. The bands split `span`.
  std::optional<Interval> BandSpan(Band band) const;

  /// Returns the band of a value, which must lie in `span`.
  Band BandOf(U128 value) const {
    return value - span_->first < static_size_ ? Band::kStatic : Band::kDynamic;
  }

  bool strict() const { return strict_; }

  /// Returns the operator's exclusions and the holes: sorted, disjoint, not touching, inside
  /// `span`.
  const std::vector<Interval>& excluded() const { return excluded_; }

  /// Returns whether a value is one of `excluded`.
  bool Excludes(U128 value) const;

  /// Returns the unusable values in ascending order.
  const std::vector<Unusable>& unusable() const { return unusable_; }

  bool Contains(U128 value) const { return span_ && span_->Contains(value); }

  /// Returns whether the range may give the value out: it is usable and not excluded.
  bool GivesOut(U128 value) const;

  /// Returns this layout without the values outside of `part`. The remaining values stay in their
  /// band. Returns nullopt if no value remains.
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

/// Returns the layout of a CIDR. Fails if `options.static_band` is larger than the number of usable
/// values.
///
/// All addresses are usable except the network address and, for IPv4, the broadcast address. Two
/// blocks of IPv6 are never usable, because their addresses have no name of their own. These are
/// ::/96, whose decimal names are those of IPv4 addresses, and ::ffff:0:0/96, which is IPv4 written
/// as IPv6.
base::Result<Layout> LayoutOf(const ip::Cidr& cidr, const RangeOptions& options = {});

/// Returns the layout of a port range. Fails as above. All ports are usable except 0, which means
/// "no port" in the API.
base::Result<Layout> LayoutOf(const ip::PortRange& ports, const RangeOptions& options = {});

}  // namespace berth::alloc
