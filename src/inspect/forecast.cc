#include "inspect/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/go_text.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;
using alloc::State;
using base::Reason;
using base::Result;

Outlook OutlookOf(const RangeFigures& figures, const Growth& growth, const Growth& dynamic) {
  Outlook outlook{.usable = figures.Usable(),
                  .free = figures.Free(),
                  .dynamic_free = figures.dynamic_band.counts[State::kFree],
                  .growth = growth,
                  .dynamic_growth = dynamic};
  outlook.full = FullAfter(outlook.free, growth);
  outlook.dynamic_full = FullAfter(outlook.dynamic_free, dynamic);
  return outlook;
}

/// Returns the growth with what is added. A growth that is unknown becomes what is added.
Growth WithAdded(const Growth& growth, const std::optional<double>& add) {
  if (!add) return growth;
  Growth sum = growth.Plus(*add);
  if (!sum.Known()) sum.basis = GrowthBasis::kGiven;
  return sum;
}

/// A range that does not exist yet.
struct NewRange {
  PoolId pool = PoolId::kIpv4;
  std::string text = {};
  uint64_t formula_band = 0;
  alloc::Interval values = {};
  Result<alloc::Layout> (*layout)(const std::string& text,
                                  const alloc::RangeOptions& options) = nullptr;
};

Result<alloc::Layout> CidrLayout(const std::string& text, const alloc::RangeOptions& options) {
  return alloc::LayoutOf(ip::ParseCidr(text).value(), options);
}

Result<alloc::Layout> PortLayout(const std::string& text, const alloc::RangeOptions& options) {
  return alloc::LayoutOf(ip::ParsePortRange(text).value(), options);
}

Result<NewRange> ReadNewRange(const std::string& text) {
  const auto bad = [&text](const base::Error& error) {
    return base::Fail(Reason::kInvalid,
                      fmt::format("--resize {}: {}", base::GoQuoted(text), error.message));
  };
  NewRange range;
  if (text.find('/') != std::string::npos) {
    const auto cidr = ip::ParseCidr(text);
    if (!cidr) return bad(cidr.error());
    range = {.pool = alloc::PoolOf(cidr->family()),
             .text = cidr->ToString(),
             .formula_band = alloc::StaticBandSize(*cidr),
             .layout = &CidrLayout};
  } else {
    const auto ports = ip::ParsePortRange(text);
    if (!ports) return bad(ports.error());
    range = {.pool = PoolId::kPorts,
             .text = ports->ToString(),
             .formula_band = alloc::StaticBandSize(*ports),
             .layout = &PortLayout};
  }
  const alloc::Layout layout = range.layout(range.text, {}).value();
  if (!layout.span()) {
    return base::Fail(Reason::kInvalid,
                      fmt::format("--resize {}: it has no usable value", base::GoQuoted(text)));
  }
  range.values = *layout.span();
  return range;
}

/// Returns the size of a static band that Kubernetes' formula does not give, so that a range keeps
/// it when it gets another size.
std::optional<base::U128> OwnStaticBand(const alloc::RangeRow& row) {
  const auto old = ReadNewRange(row.text);
  const auto band = row.layout.BandSpan(alloc::Band::kStatic);
  const base::U128 size = band ? band->Size() : 0;
  if (!old || size == old->formula_band) return std::nullopt;
  return size;
}

Result<alloc::RangeRow> RowWith(const alloc::RangeRow& old, const NewRange& next,
                                const std::optional<base::U128>& static_band) {
  auto layout = next.layout(next.text, {.static_band = static_band,
                                        .strict = old.layout.strict(),
                                        .excluded = old.layout.excluded()});
  if (!layout) return tl::unexpected(layout.error());
  alloc::RangeRow row = old;
  row.text = next.text;
  row.layout = *std::move(layout);
  return row;
}

/// Finds the values in use that would lie in no range.
void FindBlockers(const Census& census, const RangeRef& old, const alloc::Layout& next,
                  Resized& resized) {
  const auto uses = census.UsesIn(old.pool, *old.row->layout.span());
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i > 0 && uses[i].value == uses[i - 1].value) continue;
    if (next.Contains(uses[i].value)) continue;
    const auto others = census.RangesOf({.pool = old.pool, .value = uses[i].value});
    const bool elsewhere =
        std::ranges::any_of(others, [&](const RangeRef& other) { return other.row != old.row; });
    if (elsewhere) continue;
    if (resized.blockers++ >= kBlockersShown) continue;
    const audit::ObjectRef& service = uses[i].service->object;
    resized.first_blockers.push_back(
        {.value = alloc::TextOf({.pool = old.pool, .value = uses[i].value}),
         .service = service.name_space + "/" + service.name});
  }
}

Resized Resize(const Census& census, const RangeForecast& forecast, const NewRange& next,
               const std::optional<double>& add) {
  const RangeRef& old = forecast.range.ref;
  auto own = OwnStaticBand(*old.row);
  if (own) own = std::min(*own, next.layout(next.text, {})->Usable());
  const alloc::RangeRow row = *RowWith(*old.row, next, own);
  const RangeRef ref{.pool = old.pool, .row = &row, .range = old.range};
  Resized resized{.text = next.text,
                  .outlook = OutlookOf(census.FiguresOf(ref), WithAdded(forecast.range.growth, add),
                                       WithAdded(forecast.range.dynamic_growth, add))};
  if (old.row->layout.span()) FindBlockers(census, old, row.layout, resized);
  return resized;
}

std::string_view PoolText(PoolId pool) {
  if (pool == PoolId::kPorts) return "range of node ports";
  return pool == PoolId::kIpv4 ? "IPv4 range" : "IPv6 range";
}

/// Returns the range that is to get another size: the one that shares values with it, or the only
/// one of the pool.
Result<RangeForecast*> FindToResize(std::vector<RangeForecast>& ranges, const NewRange& next) {
  std::vector<RangeForecast*> of_pool;
  std::vector<RangeForecast*> sharing;
  for (RangeForecast& range : ranges) {
    if (range.range.ref.pool != next.pool) continue;
    of_pool.push_back(&range);
    const auto& span = range.range.ref.row->layout.span();
    if (span && alloc::Intersection(*span, next.values)) sharing.push_back(&range);
  }
  if (of_pool.empty()) {
    return base::Fail(Reason::kInvalid, fmt::format("--resize {}: there is no {} to resize",
                                                    next.text, PoolText(next.pool)));
  }
  const std::vector<RangeForecast*>& candidates = sharing.empty() ? of_pool : sharing;
  if (candidates.size() == 1) return candidates.front();
  return base::Fail(
      Reason::kInvalid,
      fmt::format("--resize {}: it could replace {} or {}; choose one with --range", next.text,
                  candidates[0]->range.text(), candidates[1]->range.text()));
}

}  // namespace

Result<alloc::RangeRow> ResizedRow(const alloc::RangeRow& old, const std::string& text) {
  const auto next = ReadNewRange(text);
  if (!next) return tl::unexpected(next.error());
  return RowWith(old, *next, OwnStaticBand(old));
}

Result<ForecastView> MakeForecast(const Census& census, const ForecastOptions& options) {
  ForecastView view{.add = options.add, .given_history = options.given_history};
  std::string known;
  for (const TopRange& range : MeasureRanges(census, options.history)) {
    known += (known.empty() ? "" : ", ") + range.text();
    const alloc::RangeRow& row = *range.ref.row;
    if (!options.range.empty() && row.name != options.range && row.text != options.range) continue;
    RangeForecast& forecast = view.ranges.emplace_back();
    forecast.now = OutlookOf(range.figures, range.growth, range.dynamic_growth);
    if (options.add) {
      forecast.with_added = OutlookOf(range.figures, WithAdded(range.growth, options.add),
                                      WithAdded(range.dynamic_growth, options.add));
    }
    forecast.range = range;
  }
  if (view.ranges.empty() && !options.range.empty()) {
    return base::Fail(
        Reason::kInvalid,
        fmt::format("--range {}: there is no such range; the ranges are {}",
                    base::GoQuoted(options.range), known.empty() ? "unknown" : known));
  }
  for (const std::string& text : options.resize) {
    const auto next = ReadNewRange(text);
    if (!next) return tl::unexpected(next.error());
    const auto found = FindToResize(view.ranges, *next);
    if (!found) return tl::unexpected(found.error());
    (*found)->resized.push_back(Resize(census, **found, *next, options.add));
  }
  return view;
}

}  // namespace berth::inspect
