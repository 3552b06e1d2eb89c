#include "berth/ui/scene_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "base/go_text.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/growth_text.h"
#include "berth/inspect/top_document.h"
#include "inspect/names.h"
#include "inspect/question.h"
#include "inspect/range_shape.h"

namespace berth::cli {
namespace {

using alloc::State;
using codec::Object;
using codec::Value;

constexpr std::string_view kAllAddresses = "340282366920938463463374607431768211456";

void SetStateCounts(Object& object, const alloc::StateCounts& counts) {
  object.Set("usable", CountText(counts.Total() - counts[State::kExcluded]));
  object.Set("taken", CountText(counts[State::kTaken]));
  object.Set("reserved", CountText(counts[State::kReserved]));
  object.Set("cooling", CountText(counts[State::kCooling]));
  object.Set("free", CountText(counts[State::kFree]));
}

Value BandCard(const inspect::TopRange& range, alloc::Band which) {
  const inspect::BandFigures& band = range.figures.Of(which);
  const auto bound = [&](base::U128 value) { return ValueTextOf(range.ref.pool, value); };
  Object object{{"first", band.span ? bound(band.span->first) : Value()},
                {"last", band.span ? bound(band.span->last) : Value()}};
  SetStateCounts(object, band.counts);
  object.Set("percentUsed", band.PercentUsed());
  object.Set("named", range.origins_known ? Value(band.named) : Value());
  object.Set("drawn", range.origins_known ? Value(band.drawn) : Value());
  return object;
}

/// Returns "full in about 12 days, on ...", or an empty text.
std::string FullSentenceOf(const inspect::TimeToFull& full, base::WallTime now) {
  if (!full.known) return {};
  constexpr std::string_view kNever = "never";
  const std::string sentence = FullSentence(full, now);
  if (sentence.starts_with(kNever)) return "never full" + sentence.substr(kNever.size());
  return "full " + sentence;
}

Value TrendOf(const Scene& scene, const inspect::TopRange& range) {
  codec::Array trend;
  const auto history = scene.options().use.find(range.text());
  if (history == scene.options().use.end()) return trend;
  for (const inspect::UsePoint& point : history->second.range) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(point.time.time_since_epoch());
    trend.push_back(codec::Array{int64_t{seconds.count()}, point.values});
  }
  return trend;
}

}  // namespace

Value CountText(base::U128 count) { return base::ToDecimal(count); }

Value SizeText(const alloc::Interval& values) {
  // Of all sizes only that of ::/0 does not fit.
  const base::U128 more = values.last - values.first;
  return more == base::kU128Max ? Value(kAllAddresses) : CountText(more + 1);
}

Value PageNumber(base::U128 number) {
  constexpr base::U128 kMost = base::U128{1} << 53;
  return static_cast<int64_t>(std::min(number, kMost));
}

Value ValueTextOf(alloc::PoolId pool, base::U128 value) {
  return alloc::TextOf({.pool = pool, .value = value});
}

Object RangeCardDocument(const Scene& scene, const inspect::TopRange& range) {
  const alloc::RangeRow& row = *range.ref.row;
  const alloc::Interval all = inspect::AllValuesOf(row);
  const alloc::StateCounts counts = range.figures.Counts();
  Object object = RangeNameDocument(range.ref);
  object.Set("key", inspect::KeyOf(range.ref));
  object.Set("open", row.open);
  object.Set("leaving", row.leaving || row.makes_way);
  object.Set("strict", row.layout.strict());
  object.Set("first", ValueTextOf(range.ref.pool, all.first));
  object.Set("last", ValueTextOf(range.ref.pool, all.last));
  object.Set("size", SizeText(all));
  SetStateCounts(object, counts);
  object.Set("excluded", CountText(counts[State::kExcluded]));
  object.Set("percentUsed", range.figures.PercentUsed());
  object.Set("staticBand", BandCard(range, alloc::Band::kStatic));
  object.Set("dynamicBand", BandCard(range, alloc::Band::kDynamic));
  object.Set("spill", range.origins_known ? Value(range.figures.Spill()) : Value());
  object.Set("usedTwice", range.used_twice);
  object.Set("withoutService", CountText(range.orphans));
  object.Set("growth", range.growth.Known() ? RateText(range.growth.likely) : "");
  object.Set("growthBasis", range.growth.Known() ? BasisText(range.growth) : "");
  object.Set("fullIn", FullInText(range.full));
  object.Set("fullSentence", FullSentenceOf(range.full, scene.cluster().read_at));
  object.Set("severity", range.worst ? Value(inspect::NameOf(*range.worst)) : Value());
  object.Set("trend", TrendOf(scene, range));
  return object;
}

Value CommandsDocument(const std::vector<inspect::ReadyCommand>& commands) {
  codec::Array array;
  for (const inspect::ReadyCommand& each : commands) {
    array.push_back(Object{{"title", each.title}, {"command", each.command}});
  }
  return array;
}

base::Result<const inspect::TopRange*> RangeOfKey(const Scene& scene, std::string_view key) {
  for (const inspect::TopRange& range : scene.top().ranges) {
    if (inspect::KeyOf(range.ref) == key) return &range;
  }
  return base::Fail(base::Reason::kNotFound, "there is no such range in the cluster any more");
}

base::Result<base::U128> ReadValueOf(alloc::PoolId pool, std::string_view text,
                                     std::string_view what) {
  const auto value = inspect::ReadValue(text);
  if (value && value->pool == pool) return value->value;
  // Port 0 and the addresses 0.x.x.x are no values of Services, but a range may begin with them.
  if (pool == alloc::PoolId::kPorts && text == "0") return base::U128{0};
  return base::Fail(base::Reason::kInvalid, fmt::format("{} must be a value of the range, not {}",
                                                        what, base::GoQuoted(text)));
}

}  // namespace berth::cli
