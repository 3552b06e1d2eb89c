#include "berth/inspect/forecast_document.h"

#include <utility>

#include "berth/document.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/growth_text.h"
#include "berth/inspect/top_document.h"

namespace berth::cli {
namespace {

using codec::Object;
using codec::Value;

Object OutlookDocument(const inspect::Outlook& outlook, base::WallTime now) {
  Object object;
  SetCount(object, "usable", outlook.usable);
  SetCount(object, "free", outlook.free);
  SetCount(object, "dynamicFree", outlook.dynamic_free);
  object.Set("growth", GrowthDocument(outlook.growth));
  object.Set("dynamicBandGrowth", GrowthDocument(outlook.dynamic_growth));
  object.Set("full", TimeToFullDocument(outlook.full, now));
  object.Set("dynamicBandFull", TimeToFullDocument(outlook.dynamic_full, now));
  return object;
}

Value ResizedDocument(const inspect::Resized& resized, base::WallTime now) {
  Object object{{"range", resized.text}};
  object.Set("outlook", OutlookDocument(resized.outlook, now));
  object.Set("blockerCount", resized.blockers);
  codec::Array blockers;
  for (const inspect::OutsideUse& each : resized.first_blockers) {
    blockers.push_back(Object{{"value", each.value}, {"service", each.service}});
  }
  object.Set("firstBlockers", std::move(blockers));
  return object;
}

}  // namespace

Value ForecastDocument(const inspect::Cluster& cluster, const inspect::ForecastView& view) {
  const base::WallTime now = cluster.read_at;
  Object object = DocumentOf("Forecast", cluster);
  object.Set("addedPerDay", view.add ? Value(*view.add) : Value());
  codec::Array ranges;
  for (const inspect::RangeForecast& forecast : view.ranges) {
    Object range = RangeNameDocument(forecast.range.ref);
    range.Set("percentUsed", forecast.range.figures.PercentUsed());
    range.Set("historyUsed", view.given_history ? Value(forecast.now.growth.basis ==
                                                        inspect::GrowthBasis::kHistory)
                                                : Value());
    range.Set("now", OutlookDocument(forecast.now, now));
    range.Set("withAdded",
              forecast.with_added ? Value(OutlookDocument(*forecast.with_added, now)) : Value());
    codec::Array resized;
    for (const inspect::Resized& each : forecast.resized) {
      resized.push_back(ResizedDocument(each, now));
    }
    range.Set("resized", std::move(resized));
    ranges.push_back(std::move(range));
  }
  object.Set("ranges", std::move(ranges));
  object.Set("gaps", GapsDocument(cluster));
  return object;
}

}  // namespace berth::cli
