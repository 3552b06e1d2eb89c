#include "berth/plan/plan_document.h"

#include <string>
#include <utility>

#include "berth/document.h"

namespace berth::cli {
namespace {

using alloc::Interval;
using codec::Object;
using codec::Value;

std::string_view BandName(alloc::Band band) {
  return band == alloc::Band::kStatic ? "static" : "dynamic";
}

std::string_view ReasonName(EmptyReason reason) {
  switch (reason) {
    case EmptyReason::kNothingUsable:
      return "NothingUsable";
    case EmptyReason::kTooFewValues:
      return "TooFewValues";
    case EmptyReason::kWidePrefix:
      return "WidePrefix";
    case EmptyReason::kAskedFor:
      return "AskedFor";
    case EmptyReason::kStaticBandTakesAll:
      break;
  }
  return "StaticBandTakesAll";
}

Object Bounds(ValueKind kind, const Interval& values) {
  return {{"first", ValueText(kind, values.first)}, {"last", ValueText(kind, values.last)}};
}

Value BandDocument(ValueKind kind, const BandPlan& band) {
  Object object = band.span ? Bounds(kind, *band.span) : Object{{"first", {}}, {"last", {}}};
  SetCount(object, "size", band.usable);
  object.Set("emptyReason", band.why_empty ? Value(ReasonName(*band.why_empty)) : Value());
  return object;
}

Value LandmarkDocument(ValueKind kind, const std::optional<Landmark>& landmark) {
  if (!landmark) return {};
  return Object{
      {"value", landmark->value ? Value(ValueText(kind, *landmark->value)) : Value()},
      {"band", landmark->band ? Value(BandName(*landmark->band)) : Value()},
      {"reason", landmark->why_not ? Value(*landmark->why_not) : Value()},
  };
}

Value UnusableDocument(const RangePlan& range) {
  codec::Array array;
  for (const alloc::Unusable& each : range.layout.unusable()) {
    Object object = Bounds(range.kind, each.values);
    SetCount(object, "size", each.values.Size());
    object.Set("reason", each.why);
    array.push_back(std::move(object));
  }
  return array;
}

Value UsesDocument(const UsedValue& value) {
  codec::Array array;
  for (const Use& use : value.uses) {
    array.push_back(Object{{"owner", use.owner.empty() ? Value() : Value(use.owner)},
                           {"line", use.line == 0 ? Value() : Value(use.line)}});
  }
  return array;
}

Value UsedValueDocument(const UsedValue& value) {
  return Object{{"value", ValueText(value.kind, value.value)}, {"uses", UsesDocument(value)}};
}

Value FreeRunsDocument(ValueKind kind, const std::vector<Interval>& runs) {
  codec::Array array;
  for (const Interval& run : runs) {
    Object object = Bounds(kind, run);
    SetCount(object, "size", run.Size());
    array.push_back(std::move(object));
  }
  return array;
}

Value BandUsageDocument(ValueKind kind, const BandUsage& band) {
  Object object;
  SetCount(object, "size", band.Total());
  SetCount(object, "used", band.used);
  SetCount(object, "free", band.free);
  object.Set("usedPercent", band.Total() == 0 ? Value() : Value(band.Percent()));
  codec::Array values;
  for (const UsedValue& value : band.values) values.push_back(UsedValueDocument(value));
  object.Set("values", std::move(values));
  object.Set("freeRuns", FreeRunsDocument(kind, band.free_runs));
  return object;
}

Value UsageDocument(const RangePlan& range) {
  if (!range.usage) return {};
  const RangeUsage& usage = *range.usage;
  codec::Array twice;
  for (const BandUsage* band : {&usage.static_band, &usage.dynamic_band}) {
    for (const UsedValue& value : band->values) {
      if (value.Twice()) twice.push_back(UsedValueDocument(value));
    }
  }
  return Object{
      {"staticBand", BandUsageDocument(range.kind, usage.static_band)},
      {"dynamicBand", BandUsageDocument(range.kind, usage.dynamic_band)},
      {"usedTwice", std::move(twice)},
  };
}

Value RangeDocument(const RangePlan& range) {
  Object object{{"range", range.range}, {"kind", KindName(range.kind)}};
  object.Set("first", ValueText(range.kind, range.all.first));
  object.Set("last", ValueText(range.kind, range.all.last));
  object.Set("size", base::SaturateToInt64(range.size));
  object.Set("sizeText", range.size_decimal);  // Exact also for ::/0, unlike the number.
  SetCount(object, "usable", range.layout.Usable());
  object.Set("staticBand", BandDocument(range.kind, range.static_band));
  object.Set("dynamicBand", BandDocument(range.kind, range.dynamic_band));
  object.Set("firstAddress", LandmarkDocument(range.kind, range.first));
  object.Set("tenthAddress", LandmarkDocument(range.kind, range.tenth));
  object.Set("unusable", UnusableDocument(range));
  object.Set("advice", Advice(range));
  object.Set("usage", UsageDocument(range));
  return object;
}

Value UsedDocument(const std::optional<UsedPlan>& used, std::string_view source) {
  if (!used) return {};
  codec::Array outside;
  for (const auto& [value, why] : used->outside) {
    outside.push_back(Object{{"value", ValueText(value.kind, value.value)},
                             {"kind", KindName(value.kind)},
                             {"reason", why},
                             {"uses", UsesDocument(value)}});
  }
  codec::Array unchecked;
  for (const auto& [kind, values] : used->unchecked) {
    unchecked.push_back(Object{{"kind", KindName(kind)}, {"valueCount", values}});
  }
  const bool list = used->format == UsedFormat::kList;
  return Object{
      {"source", source},
      {"format", list ? "List" : "Services"},
      {"serviceCount", list ? Value() : Value(used->services)},
      {"ignoredObjectCount", list ? Value() : Value(used->other_objects)},
      {"valueCount", used->values},
      {"usedTwiceCount", used->twice},
      {"outside", std::move(outside)},
      {"unchecked", std::move(unchecked)},
  };
}

}  // namespace

Value PlanDocument(const Plan& plan, std::string_view source) {
  codec::Array ranges;
  for (const RangePlan& range : plan.ranges) ranges.push_back(RangeDocument(range));
  return Object{{"ranges", std::move(ranges)}, {"used", UsedDocument(plan.used, source)}};
}

}  // namespace berth::cli
