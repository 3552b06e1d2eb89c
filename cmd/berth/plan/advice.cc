// The sentences of a plan that tell an operator what its numbers mean.
#include <fmt/format.h>

#include "berth/plan/plan.h"
#include "berth/text.h"

namespace berth::cli {
namespace {

std::string NothingUsable(const RangePlan& range) {
  std::string reasons;
  for (const alloc::Unusable& each : range.layout.unusable()) {
    const std::string first = ValueText(range.kind, each.values.first);
    const std::string values =
        each.values.Size() == 1 ? first : first + " to " + ValueText(range.kind, each.values.last);
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", values, each.why);
  }
  return fmt::format("Nothing in {} can be allocated: it has no usable value ({}).", range.range,
                     reasons);
}

std::string NoneSafe(std::string_view why) {
  return fmt::format(
      "{}, so any value may be picked dynamically and none is safe to hard-code without reserving "
      "it.",
      why);
}

std::string_view WhyNoStaticBand(EmptyReason reason) {
  switch (reason) {
    case EmptyReason::kTooFewValues:
      return "A range of 16 values or fewer has no static band";
    case EmptyReason::kWidePrefix:
      return "A prefix length of 0 or 1 leaves no static band";
    case EmptyReason::kAskedFor:
      return "--static-band 0 leaves no static band";
    default:
      return "There is no static band";
  }
}

/// Returns which values of the static band are free, or an empty text if usage is not known.
std::string WhatIsFree(const RangePlan& range) {
  if (!range.usage) return {};
  const BandUsage& band = range.usage->static_band;
  if (band.free == 0) return " All of them are in use.";
  const std::string first = ValueText(range.kind, band.free_runs.front().first);
  if (band.free == 1) return fmt::format(" One of them is free: {}.", first);
  return fmt::format(" {} of them are free, the first is {}.", ShortNumber(band.free), first);
}

bool DynamicBandIsFull(const RangePlan& range) {
  return range.usage && range.usage->dynamic_band.free == 0;
}

}  // namespace

std::string_view EmptyReasonText(EmptyReason reason) {
  switch (reason) {
    case EmptyReason::kNothingUsable:
      return "no value of the range is usable";
    case EmptyReason::kTooFewValues:
      return "the range has 16 values or fewer";
    case EmptyReason::kWidePrefix:
      return "Kubernetes computes none for a prefix length of 0 or 1";
    case EmptyReason::kAskedFor:
      return "--static-band 0 was given";
    case EmptyReason::kStaticBandTakesAll:
      break;
  }
  return "the static band takes every usable value";
}

std::string Advice(const RangePlan& range) {
  const BandPlan& band = range.static_band;
  if (!range.layout.span()) return NothingUsable(range);
  if (!band.span) return NoneSafe(WhyNoStaticBand(*band.why_empty));
  if (!range.dynamic_band.span) return NoneSafe("There is no dynamic band");
  const std::string first = ValueText(range.kind, band.span->first);
  const std::string last = ValueText(range.kind, band.span->last);
  const std::string values = first == last ? first : fmt::format("{} to {}", first, last);
  if (DynamicBandIsFull(range)) {
    return fmt::format(
        "The dynamic band is full, so dynamic requests now take values of the static band ({}); "
        "hard-code none without reserving it.{}",
        values, WhatIsFree(range));
  }
  return fmt::format(
      "Safe to hard-code: {}; a dynamic request takes {} only when the dynamic band is full.{}",
      values, first == last ? "it" : "one of these", WhatIsFree(range));
}

}  // namespace berth::cli
