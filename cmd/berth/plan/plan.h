// The plan of Service ranges: the bands of each range, which values are safe to hard-code and,
// given the values in use, which are free. Pure values and functions; plan_text and plan_document
// print them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "alloc/layout.h"
#include "berth/plan/used.h"
#include "berth/plan/value_kind.h"

namespace berth::cli {

/// Why a band has no values.
enum class EmptyReason : uint8_t {
  kNothingUsable,       ///< the range has no usable values, so both bands are empty
  kTooFewValues,        ///< 16 values or fewer have no static band in Kubernetes
  kWidePrefix,          ///< a prefix length of 0 or 1 has no static band in Kubernetes
  kAskedFor,            ///< --static-band 0
  kStaticBandTakesAll,  ///< no values are left for the dynamic band
};

struct BandPlan {
  alloc::Band band = alloc::Band::kStatic;
  std::optional<alloc::Interval> span = {};   ///< unset if the band is empty
  U128 usable = 0;                            ///< values of `span` that can be allocated
  std::optional<EmptyReason> why_empty = {};  ///< set if `span` is not
};

/// An address that clusters use by convention, and its band.
struct Landmark {
  std::optional<U128> value = {};           ///< unset if the range is too small to contain it
  std::optional<alloc::Band> band = {};     ///< unset if the address cannot be allocated
  std::optional<std::string> why_not = {};  ///< set if `band` is not
};

/// A value in use and all its uses.
struct UsedValue {
  ValueKind kind = ValueKind::kIpv4;
  U128 value = 0;
  std::vector<Use> uses = {};  ///< in the order of the file, never empty

  bool Twice() const { return uses.size() > 1; }
};

struct BandUsage {
  U128 used = 0;
  U128 free = 0;
  std::vector<UsedValue> values = {};           ///< ascending
  std::vector<alloc::Interval> free_runs = {};  ///< ascending, complete

  U128 Total() const { return used + free; }
  double Percent() const;  ///< how full the band is; 0 if it has no values
};

/// The values of one range that are in use.
struct RangeUsage {
  BandUsage static_band;
  BandUsage dynamic_band;
};

struct RangePlan {
  std::string range;  ///< in canonical form
  ValueKind kind = ValueKind::kIpv4;
  alloc::Interval all;       ///< every value of the range, usable or not
  U128 size = 0;             ///< of `all`; 2^128 - 1 for ::/0
  std::string size_decimal;  ///< exact also for ::/0
  alloc::Layout layout;
  BandPlan static_band;
  BandPlan dynamic_band;
  std::optional<Landmark> first = {};  ///< for addresses: by convention the "kubernetes" Service
  std::optional<Landmark> tenth = {};  ///< for addresses: by convention cluster DNS
  std::optional<RangeUsage> usage = {};
};

/// A value in use that no range can have allocated.
struct OutsideValue {
  UsedValue value;
  std::string why;
};

/// The values in use across all ranges.
struct UsedPlan {
  UsedFormat format = UsedFormat::kList;
  size_t services = 0;
  size_t other_objects = 0;
  size_t values = 0;  ///< different ones
  size_t twice = 0;   ///< how many of the checked values are used more than once
  std::vector<OutsideValue> outside = {};  ///< ascending by kind and value

  struct Unchecked {
    ValueKind kind = ValueKind::kIpv4;
    size_t values = 0;  ///< different ones, never 0
  };
  std::vector<Unchecked> unchecked = {};  ///< kinds for which no range was given
};

struct Plan {
  std::vector<RangePlan> ranges = {};
  std::optional<UsedPlan> used = {};
};

/// Plans one range: a CIDR if the text contains a '/', otherwise ports. The Error is a sentence
/// without a full stop that begins with the given text in quotes.
base::Result<RangePlan> PlanRange(std::string_view text, std::optional<U128> static_band = {});

/// Plans each range separately. Returns an error for each range that cannot be planned.
tl::expected<Plan, std::vector<std::string>> PlanRanges(const std::vector<std::string>& texts,
                                                        std::optional<U128> static_band = {});

/// Returns why a value of the range cannot be allocated. Returns nullopt if it can, or if it is
/// outside the range.
std::optional<std::string> WhyUnusable(const RangePlan& range, U128 value);

/// Sorts the values in use into the ranges of the plan (in usage.cc).
void AddUsage(Plan& plan, Used used);

/// Says which values are safe to hard-code, in one or two sentences (in advice.cc).
std::string Advice(const RangePlan& range);

/// Says why a band is empty, as the end of "none: ..." (in advice.cc).
std::string_view EmptyReasonText(EmptyReason reason);

}  // namespace berth::cli
