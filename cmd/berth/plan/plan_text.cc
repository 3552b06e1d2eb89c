#include "berth/plan/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "berth/paint.h"
#include "berth/plan/band_bar.h"
#include "berth/plan/usage_text.h"
#include "berth/text.h"

namespace berth::cli {
namespace {

constexpr size_t kLabel = 11;  // Columns of the longest label and the gap after it.

/// Returns a line of facts. A line without a label continues the previous one.
std::string Fact(std::string_view label, std::string_view text) {
  return fmt::format("{:{}}{}{}\n", "", kIndent, PadRight(label, kLabel), text);
}

/// Returns a fact of two columns, the first `width` wide. If it does not fit on a line, the columns
/// move closer together, and if it still does not fit, below each other.
std::string Fact(std::string_view label, std::string_view left, size_t width,
                 std::string_view right, const Paint& paint) {
  for (const size_t column : {width, DisplayWidth(left)}) {
    const std::string text = PadRight(left, column) + std::string(kColumnGap, ' ').append(right);
    if (kIndent + kLabel + DisplayWidth(text) <= paint.width()) return Fact(label, text);
  }
  return Fact(label, left) + Fact("", right);
}

std::string Hinted(std::string number, std::string_view hint) {
  return hint.empty() ? number : fmt::format("{} ({})", number, hint);
}

std::string Count(U128 number) { return Hinted(WithSeparators(number), PowerHint(number)); }

std::string SizeFacts(const RangePlan& range) {
  // The size of ::/0 is exact only as text.
  const bool everything = range.size == base::kU128Max;
  const std::string hint = everything ? "2^128" : PowerHint(range.size);
  return Fact("Size", Hinted(WithSeparators(range.size_decimal), hint)) +
         Fact("Usable", Count(range.layout.Usable()));
}

std::string BandFacts(const RangePlan& range, const Paint& paint) {
  const std::array bands = {std::pair("Static", &range.static_band),
                            std::pair("Dynamic", &range.dynamic_band)};
  size_t bounds_width = 0;
  size_t count_width = 0;
  for (const auto& [label, band] : bands) {
    if (!band->span) continue;
    bounds_width = std::max(bounds_width, DisplayWidth(paint.Bounds(range.kind, *band->span)));
    count_width = std::max(count_width, Count(band->usable).size());
  }
  // The counts are aligned in a column only if all of them fit.
  if (kIndent + kLabel + bounds_width + kColumnGap + count_width > paint.width()) {
    bounds_width = count_width = 0;
  }
  std::string out;
  for (const auto& [label, band] : bands) {
    out += band->span ? Fact(label, paint.Bounds(range.kind, *band->span), bounds_width,
                             PadLeft(Count(band->usable), count_width), paint)
                      : Fact(label, fmt::format("none: {}", EmptyReasonText(*band->why_empty)));
  }
  return out;
}

std::string LandmarkText(const Landmark& landmark, std::string_view custom) {
  if (!landmark.band) return fmt::format("cannot be used: {}", *landmark.why_not);
  const bool is_static = *landmark.band == alloc::Band::kStatic;
  return fmt::format("{} band; by convention {}", is_static ? "static" : "dynamic", custom);
}

std::string LandmarkFacts(const RangePlan& range, const Paint& paint) {
  if (!range.first) return {};
  const auto value = [&](const Landmark& landmark) {
    return landmark.value ? ValueText(range.kind, *landmark.value) : std::string();
  };
  const size_t width = std::max(value(*range.first).size(), value(*range.tenth).size());
  const auto fact = [&](std::string_view label, const Landmark& landmark, std::string_view custom) {
    if (!landmark.value) return Fact(label, fmt::format("none: {}", *landmark.why_not));
    return Fact(label, value(landmark), width, LandmarkText(landmark, custom), paint);
  };
  return fact("First", *range.first, "the kubernetes Service") +
         fact("Tenth", *range.tenth, "cluster DNS");
}

std::string UnusableFacts(const RangePlan& range, const Paint& paint) {
  size_t width = 0;
  for (const alloc::Unusable& each : range.layout.unusable()) {
    width = std::max(width, DisplayWidth(paint.Bounds(range.kind, each.values)));
  }
  std::string out;
  for (const alloc::Unusable& each : range.layout.unusable()) {
    out += Fact(out.empty() ? "Unusable" : "", paint.Bounds(range.kind, each.values), width,
                each.why, paint);
  }
  return out;
}

std::string AdviceText(const RangePlan& range, const Paint& paint) {
  constexpr std::string_view kAnswer = "Safe to hard-code:";
  std::string out = Wrapped(Advice(range), kIndent, paint.width());
  // In the colour of the static band. This comes after wrapping, because colour codes have no
  // width.
  if (const size_t at = out.find(kAnswer); at != std::string::npos) {
    out.replace(at, kAnswer.size(), paint.In(Color::kGreen, kAnswer));
  }
  return out;
}

std::string RangeText(const RangePlan& range, const Paint& paint) {
  std::string out = fmt::format("{}   {}\n\n", paint.In(Color::kBold, range.range),
                                KindNoun(range.kind, range.size));
  out += AdviceText(range, paint) + "\n";
  out += SizeFacts(range);
  if (!range.layout.span()) return out;
  out += BandFacts(range, paint);
  out += LandmarkFacts(range, paint);
  out += UnusableFacts(range, paint);
  out += '\n';
  out += BandBar(range, paint);
  if (range.usage) out += RangeUsageText(range, paint);
  return out;
}

}  // namespace

std::string PlanText(const Plan& plan, std::string_view source, const Style& style) {
  const Paint paint(style);
  std::string out;
  for (const RangePlan& range : plan.ranges) {
    if (!out.empty()) out += "\n\n";
    out += RangeText(range, paint);
  }
  if (plan.used) {
    out += "\n\n";
    out += UsedText(*plan.used, source, paint);
  }
  return out;
}

}  // namespace berth::cli
