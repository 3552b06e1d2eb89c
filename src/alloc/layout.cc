#include "alloc/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::alloc {
namespace {

uint64_t BandFormula(U128 size, unsigned step, uint64_t max) {
  constexpr uint64_t kMin = 16;
  if (size <= kMin) return 0;
  return static_cast<uint64_t>(std::clamp<U128>(size / step, kMin, max));
}

/// Returns the parts of `intervals` inside `span`.
std::vector<Interval> Clipped(const std::vector<Interval>& intervals, const Interval& span) {
  std::vector<Interval> clipped;
  for (const Interval& each : intervals) {
    if (const auto part = Intersection(each, span)) clipped.push_back(*part);
  }
  return clipped;
}

std::vector<Unusable> UnusableOf(const ip::Cidr& cidr) {
  const Interval all{cidr.First().bits(), cidr.Last().bits()};
  if (cidr.family() == ip::Family::kV4) {
    std::vector<Unusable> unusable = {{{all.first, all.first}, "network address"}};
    if (all.last != all.first) unusable.push_back({{all.last, all.last}, "broadcast address"});
    return unusable;
  }
  constexpr Interval kNameless{0, 0xffff'ffff};
  constexpr Interval kMapped{0xffff'0000'0000, 0xffff'ffff'ffff};
  std::vector<Unusable> unusable;
  if (!kNameless.Contains(all.first)) {
    unusable.push_back({{all.first, all.first}, "network (subnet-router anycast) address"});
  }
  const auto add_overlap = [&](const Interval& block, std::string_view why) {
    if (const auto overlap = Intersection(all, block)) unusable.push_back({*overlap, why});
  };
  add_overlap(kNameless, "in ::/96, whose decimal names belong to IPv4 addresses");
  add_overlap(kMapped, "IPv4-mapped (::ffff:0:0/96), which Kubernetes does not accept");
  return unusable;
}

}  // namespace

std::optional<Interval> Intersection(const Interval& a, const Interval& b) {
  const Interval both{std::max(a.first, b.first), std::min(a.last, b.last)};
  if (both.first > both.last) return std::nullopt;
  return both;
}

std::vector<Interval> MergedIntervals(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.first < b.first; });
  std::vector<Interval> merged;
  for (const Interval& next : intervals) {
    const bool touches = !merged.empty() &&
                         (next.first <= merged.back().last || next.first - merged.back().last == 1);
    if (touches) {
      merged.back().last = std::max(merged.back().last, next.last);
    } else {
      merged.push_back(next);
    }
  }
  return merged;
}

uint64_t StaticBandSize(const ip::Cidr& cidr) {
  if (cidr.prefix_length() <= 1) return 0;
  return BandFormula(cidr.Size(), 16, 256);
}

uint64_t StaticBandSize(const ip::PortRange& ports) { return BandFormula(ports.Size(), 32, 128); }

std::optional<Interval> Layout::BandSpan(Band band) const {
  if (!span_) return std::nullopt;
  if (band == Band::kStatic) {
    if (static_size_ == 0) return std::nullopt;
    return Interval{span_->first, span_->first + static_size_ - 1};
  }
  if (static_size_ > span_->last - span_->first) return std::nullopt;
  return Interval{span_->first + static_size_, span_->last};
}

bool Layout::Excludes(U128 value) const {
  const auto at = std::ranges::lower_bound(excluded_, value, {}, &Interval::last);
  return at != excluded_.end() && at->Contains(value);
}

bool Layout::GivesOut(U128 value) const { return Contains(value) && !Excludes(value); }

std::optional<Layout> Layout::Within(const Interval& part) const {
  const auto span = span_ ? Intersection(*span_, part) : std::nullopt;
  if (!span) return std::nullopt;
  Layout layout = *this;
  layout.span_ = span;
  layout.excluded_ = Clipped(excluded_, *span);
  layout.usable_ = span->Size();
  for (const Unusable& each : unusable_) {
    if (const auto hole = Intersection(each.values, *span)) layout.usable_ -= hole->Size();
  }
  const auto band = BandSpan(Band::kStatic);
  const auto kept = band ? Intersection(*band, *span) : std::nullopt;
  layout.static_size_ = kept ? kept->Size() : 0;
  return layout;
}

base::Result<Layout> Layout::Make(Interval all, std::vector<Unusable> unusable,
                                  uint64_t formula_band, const RangeOptions& options) {
  Layout layout;
  // Unusable intervals are in ascending order. So each one either lies at an end of what the ones
  // before it have left, and is cut off there, or lies inside.
  std::vector<Interval> holes = options.excluded;
  U128 unusable_inside = 0;
  bool exhausted = false;
  for (const auto& [values, why] : unusable) {
    if (exhausted) break;
    if (values.first <= all.first && values.last >= all.last) {
      exhausted = true;
    } else if (values.first <= all.first) {
      all.first = values.last + 1;
    } else if (values.last >= all.last) {
      all.last = values.first - 1;
    } else {
      holes.push_back(values);
      unusable_inside += values.Size();
    }
  }
  layout.unusable_ = std::move(unusable);
  layout.strict_ = options.strict;
  if (!exhausted) {
    layout.span_ = all;
    layout.usable_ = all.Size() - unusable_inside;
    layout.excluded_ = MergedIntervals(Clipped(holes, all));
  }
  const U128 wanted = options.static_band.value_or(layout.span_ ? formula_band : 0);
  if (wanted > layout.usable_) {
    return base::Fail(
        base::Reason::kInvalid,
        fmt::format("a static band of {} does not fit: the range has {} usable values",
                    base::ToDecimal(wanted), base::ToDecimal(layout.usable_)));
  }
  layout.static_size_ = wanted;
  return layout;
}

base::Result<Layout> LayoutOf(const ip::Cidr& cidr, const RangeOptions& options) {
  return Layout::Make({cidr.First().bits(), cidr.Last().bits()}, UnusableOf(cidr),
                      StaticBandSize(cidr), options);
}

base::Result<Layout> LayoutOf(const ip::PortRange& ports, const RangeOptions& options) {
  std::vector<Unusable> unusable;
  if (ports.first() == 0) unusable.push_back({{0, 0}, "port 0 means \"no port\" in the API"});
  return Layout::Make({ports.first(), ports.last()}, std::move(unusable), StaticBandSize(ports),
                      options);
}

}  // namespace berth::alloc
