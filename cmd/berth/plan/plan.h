// The plan of Service ranges: how each divides into bands, which values are safe to hard-code and,
// once it is known what is in use, what is left. Pure values and functions; what prints them is in
// plan_text and plan_document.
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
  kNothingUsable,       ///< neither has the other
  kTooFewValues,        ///< Kubernetes gives 16 values or fewer no static band
  kWidePrefix,          ///< nor a block with a prefix length of 0 or 1
  kAskedFor,            ///< --static-band 0
  kStaticBandTakesAll,  ///< of the dynamic band: nothing is left for it
};

struct BandPlan {
  alloc::Band band = alloc::Band::kStatic;
  std::optional<alloc::Interval> span = {};   ///< nothing when the band is empty
  U128 usable = 0;                            ///< values of `span` that can be given out
  std::optional<EmptyReason> why_empty = {};  ///< set when `span` is not
};

/// An address that clusters use by custom, and where it ends up.
struct Landmark {
  std::optional<U128> value = {};           ///< nothing when the range is too small to have it
  std::optional<alloc::Band> band = {};     ///< nothing when it cannot be given out
  std::optional<std::string> why_not = {};  ///< set when `band` is not
};

/// A value in use and everyone who uses it.
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
  double Percent() const;  ///< how full the band is; 0 when it is empty
};

/// What is in use of one range.
struct RangeUsage {
  BandUsage static_band;
  BandUsage dynamic_band;
};

struct RangePlan {
  std::string range;  ///< in canonical form
  ValueKind kind = ValueKind::kIpv4;
  alloc::Interval all;       ///< every value of the range, usable or not
  U128 size = 0;             ///< of `all`; 2^128 - 1 for ::/0
  std::string size_decimal;  ///< exact for ::/0 too
  alloc::Layout layout;
  BandPlan static_band;
  BandPlan dynamic_band;
  std::optional<Landmark> first = {};  ///< of addresses: by custom the "kubernetes" Service
  std::optional<Landmark> tenth = {};  ///< of addresses: by custom cluster DNS
  std::optional<RangeUsage> usage = {};
};

/// A value in use that no range can have given out.
struct OutsideValue {
  UsedValue value;
  std::string why;
};

/// What is in use across all ranges.
struct UsedPlan {
  UsedFormat format = UsedFormat::kList;
  size_t services = 0;
  size_t other_objects = 0;
  size_t values = 0;  ///< different ones
  size_t twice = 0;   ///< how many of those that were checked are used more than once
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

/// Plans one range: a CIDR if it has a '/', else ports. The Error is a sentence without a full
/// stop that begins with the range, in quotes, as it was given.
base::Result<RangePlan> PlanRange(std::string_view text, std::optional<U128> static_band = {});

/// Plans each range by itself, or says what is wrong with each that cannot be planned.
tl::expected<Plan, std::vector<std::string>> PlanRanges(const std::vector<std::string>& texts,
                                                        std::optional<U128> static_band = {});

/// Why a value of the range cannot be given out; nothing when it can, or is outside the range.
std::optional<std::string> WhyUnusable(const RangePlan& range, U128 value);

/// Sorts what is in use into the ranges of the plan (in usage.cc).
void AddUsage(Plan& plan, Used used);

/// Which values are safe to hard-code, in one or two sentences (in advice.cc).
std::string Advice(const RangePlan& range);

/// Why a band is empty, as the end of "none: ..." (in advice.cc).
std::string_view EmptyReasonText(EmptyReason reason);

}  // namespace berth::cli
