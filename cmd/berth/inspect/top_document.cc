#include "berth/inspect/top_document.h"

#include <string>
#include <utility>

#include "berth/document.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/growth_text.h"

namespace berth::cli {
namespace {

using alloc::PoolId;
using alloc::State;
using codec::Object;
using codec::Value;
using inspect::TopRange;

std::string_view PoolName(PoolId pool) {
  switch (pool) {
    case PoolId::kIpv4:
      return "IPv4";
    case PoolId::kIpv6:
      return "IPv6";
    case PoolId::kPorts:
      break;
  }
  return "NodePort";
}

std::string_view KindName(alloc::RangeKind kind) {
  switch (kind) {
    case alloc::RangeKind::kIpRange:
      return "IPRange";
    case alloc::RangeKind::kServiceCidr:
      return "ServiceCIDR";
    case alloc::RangeKind::kNodePortRange:
      break;
  }
  return "NodePortRange";
}

Value TextOrNull(std::string_view text) { return text.empty() ? Value() : Value(text); }

void SetCounts(Object& object, const alloc::StateCounts& counts) {
  SetCount(object, "usable", counts.Total() - counts[State::kExcluded]);
  SetCount(object, "taken", counts[State::kTaken]);
  SetCount(object, "reserved", counts[State::kReserved]);
  SetCount(object, "cooling", counts[State::kCooling]);
  SetCount(object, "excluded", counts[State::kExcluded]);
  SetCount(object, "free", counts[State::kFree]);
}

Value BandDocument(const TopRange& range, alloc::Band which) {
  const inspect::BandFigures& band = range.figures.Of(which);
  const auto bound = [&](base::U128 value) {
    return Value(alloc::TextOf({.pool = range.ref.pool, .value = value}));
  };
  Object object{{"first", band.span ? bound(band.span->first) : Value()},
                {"last", band.span ? bound(band.span->last) : Value()}};
  SetCounts(object, band.counts);
  object.Set("percentUsed", band.PercentUsed());
  object.Set("named", range.origins_known ? Value(band.named) : Value());
  object.Set("drawn", range.origins_known ? Value(band.drawn) : Value());
  return object;
}

Value RangeDocument(const TopRange& range, base::WallTime now) {
  const alloc::RangeRow& row = *range.ref.row;
  Object object = RangeNameDocument(range.ref);
  object.Set("open", row.open);
  object.Set("leaving", row.leaving || row.makes_way);
  object.Set("strict", row.layout.strict());
  SetCounts(object, range.figures.Counts());
  object.Set("percentUsed", range.figures.PercentUsed());
  object.Set("staticBand", BandDocument(range, alloc::Band::kStatic));
  object.Set("dynamicBand", BandDocument(range, alloc::Band::kDynamic));
  object.Set("spill", range.origins_known ? Value(range.figures.Spill()) : Value());
  object.Set("namedInDynamicBand",
             range.origins_known ? Value(range.figures.dynamic_band.named) : Value());
  SetCount(object, "withoutService", range.orphans);
  object.Set("usedTwice", range.used_twice);
  object.Set("growth", GrowthDocument(range.growth));
  object.Set("dynamicBandGrowth", GrowthDocument(range.dynamic_growth));
  object.Set("full", TimeToFullDocument(range.full, now));
  object.Set("dynamicBandFull", TimeToFullDocument(range.dynamic_full, now));
  object.Set("severity", range.worst ? Value(inspect::NameOf(*range.worst)) : Value());
  return object;
}

Value AttentionDocument(const std::vector<inspect::Attention>& attention) {
  codec::Array array;
  for (const inspect::Attention& each : attention) {
    array.push_back(Object{{"severity", inspect::NameOf(each.severity)},
                           {"kind", inspect::NameOf(each.kind)},
                           {"range", TextOrNull(each.range)},
                           {"message", each.message},
                           {"advice", TextOrNull(each.advice)}});
  }
  return array;
}

Value TypesDocument(const inspect::TopView& view) {
  Object object;
  for (const auto& [type, count] : view.types) object.Set(type, count);
  return object;
}

}  // namespace

Value HoldersDocument(const std::vector<inspect::Holder>& holders) {
  codec::Array array;
  for (const inspect::Holder& holder : holders) {
    array.push_back(Object{{"namespace", holder.name_space},
                           {"services", holder.services},
                           {"addresses", holder.addresses},
                           {"ports", holder.ports}});
  }
  return array;
}

Object RangeNameDocument(const inspect::RangeRef& range) {
  return {{"range", range.row->text},          {"name", range.row->name},
          {"kind", KindName(range.row->kind)}, {"pool", PoolName(range.pool)},
          {"source", range.range->source},     {"exact", range.range->exact}};
}

Value TopDocument(const inspect::Cluster& cluster, const inspect::TopView& view) {
  Object object = DocumentOf("Top", cluster);
  codec::Array ranges;
  for (const TopRange& range : view.ranges) ranges.push_back(RangeDocument(range, cluster.read_at));
  object.Set("ranges", std::move(ranges));
  object.Set("attention", AttentionDocument(view.attention));
  object.Set("serviceCount", cluster.services.size());
  object.Set("types", TypesDocument(view));
  object.Set("namespaceCount", view.namespaces);
  object.Set("namespaces", HoldersDocument(view.holders));
  object.Set("gaps", GapsDocument(view.gaps));
  return object;
}

}  // namespace berth::cli
