#include "berth/plan/plan.h"

#include <fmt/format.h>

#include <utility>

#include "alloc/exclusions.h"
#include "base/go_text.h"
#include "berth/text.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::cli {
namespace {

using alloc::Band;

constexpr U128 kTenth = 10;

auto BadRange(std::string_view range, std::string_view what) {
  return base::Fail(base::Reason::kInvalid, fmt::format("{}: {}", base::GoQuoted(range), what));
}

/// Returns what is wrong with the text of a CIDR, and the CIDR that was probably meant.
std::string CidrProblem(std::string_view text, std::string_view problem) {
  const std::optional<ip::LooseCidr> loose = ip::ParseCidrLoose(text);
  const bool names_it = problem.find("canonical") != std::string_view::npos;
  if (!loose || names_it) return std::string(problem);
  return fmt::format("{}; did you mean {}?", problem, loose->cidr.ToString());
}

/// Returns what is wrong with a text that is not a port range. This is `problem`, unless the text
/// is nothing like a port range, so that kube-apiserver's message about ports would not help.
std::string PortProblem(std::string_view text, const std::string& problem) {
  if (const auto loose = ip::ParseAddrLoose(text)) {
    const bool v4 = loose->addr.family() == ip::Family::kV4;
    const std::string example = ip::Cidr(loose->addr, v4 ? 16 : 112).ToString();
    return fmt::format("an address is not a range; add a prefix length, as in {}", example);
  }
  if (!problem.starts_with("strconv") && !problem.starts_with("unable to parse")) return problem;
  return "must be a CIDR such as 10.96.0.0/16 or a port range such as 30000-32767";
}

BandPlan PlanBand(const alloc::Layout& layout, Band band, EmptyReason why_empty) {
  BandPlan plan{.band = band, .span = layout.BandSpan(band)};
  if (plan.span) {
    plan.usable = plan.span->Size() - alloc::Exclusions::Of(layout.excluded(), *plan.span).Total();
  } else {
    plan.why_empty = layout.span() ? why_empty : EmptyReason::kNothingUsable;
  }
  return plan;
}

Landmark PlanLandmark(const RangePlan& range, U128 offset) {
  if (range.size <= offset) return {.why_not = "the range has no such address"};
  Landmark landmark{.value = range.all.first + offset};
  landmark.why_not = WhyUnusable(range, *landmark.value);
  if (!landmark.why_not) landmark.band = range.layout.BandOf(*landmark.value);
  return landmark;
}

/// Completes a plan that has its range, kind, values and layout.
RangePlan Finish(RangePlan plan, EmptyReason no_static_band) {
  plan.static_band = PlanBand(plan.layout, Band::kStatic, no_static_band);
  plan.dynamic_band = PlanBand(plan.layout, Band::kDynamic, EmptyReason::kStaticBandTakesAll);
  if (plan.kind != ValueKind::kNodePort) {
    plan.first = PlanLandmark(plan, 1);
    plan.tenth = PlanLandmark(plan, kTenth);
  }
  return plan;
}

base::Result<RangePlan> PlanCidr(std::string_view text, const alloc::RangeOptions& options) {
  const base::Result<ip::Cidr> cidr = ip::ParseCidr(text);
  if (!cidr) return BadRange(text, CidrProblem(text, cidr.error().message));
  base::Result<alloc::Layout> layout = alloc::LayoutOf(*cidr, options);
  if (!layout) return BadRange(text, layout.error().message);
  const bool v4 = cidr->family() == ip::Family::kV4;
  EmptyReason reason = EmptyReason::kTooFewValues;
  if (cidr->prefix_length() <= 1) reason = EmptyReason::kWidePrefix;
  if (options.static_band) reason = EmptyReason::kAskedFor;
  return Finish({.range = cidr->ToString(),
                 .kind = v4 ? ValueKind::kIpv4 : ValueKind::kIpv6,
                 .all = {cidr->First().bits(), cidr->Last().bits()},
                 .size = cidr->Size(),
                 .size_decimal = cidr->SizeText(),
                 .layout = *std::move(layout),
                 .static_band = {},
                 .dynamic_band = {}},
                reason);
}

base::Result<RangePlan> PlanPorts(std::string_view text, const alloc::RangeOptions& options) {
  const base::Result<ip::PortRange> ports = ip::ParsePortRange(text);
  if (!ports) return BadRange(text, PortProblem(text, ports.error().message));
  base::Result<alloc::Layout> layout = alloc::LayoutOf(*ports, options);
  if (!layout) return BadRange(text, layout.error().message);
  return Finish({.range = ports->ToString(),
                 .kind = ValueKind::kNodePort,
                 .all = {ports->first(), ports->last()},
                 .size = ports->Size(),
                 .size_decimal = base::ToDecimal(ports->Size()),
                 .layout = *std::move(layout),
                 .static_band = {},
                 .dynamic_band = {}},
                options.static_band ? EmptyReason::kAskedFor : EmptyReason::kTooFewValues);
}

}  // namespace

base::Result<RangePlan> PlanRange(std::string_view text, std::optional<U128> static_band) {
  if (text.find(',') != std::string_view::npos) {
    return BadRange(text, "give each range as a separate argument, without commas");
  }
  const alloc::RangeOptions options{.static_band = static_band};
  const bool is_cidr = text.find('/') != std::string_view::npos;
  return is_cidr ? PlanCidr(text, options) : PlanPorts(text, options);
}

tl::expected<Plan, std::vector<std::string>> PlanRanges(const std::vector<std::string>& texts,
                                                        std::optional<U128> static_band) {
  Plan plan;
  std::vector<std::string> problems;
  for (const std::string& text : texts) {
    base::Result<RangePlan> range = PlanRange(text, static_band);
    if (range) {
      plan.ranges.push_back(*std::move(range));
    } else {
      problems.push_back(std::move(range.error().message));
    }
  }
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return plan;
}

std::optional<std::string> WhyUnusable(const RangePlan& range, U128 value) {
  for (const alloc::Unusable& each : range.layout.unusable()) {
    if (each.values.Contains(value)) return std::string(each.why);
  }
  return std::nullopt;
}

}  // namespace berth::cli
