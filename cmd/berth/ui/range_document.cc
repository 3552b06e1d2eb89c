// What is drawn on the map of a range beside its cells.
#include "berth/ui/scene.h"
#include "berth/ui/scene_parts.h"
#include "inspect/names.h"
#include "inspect/range_shape.h"

namespace berth::cli {
namespace {

using codec::Object;
using codec::Value;

Object SpanDocument(const inspect::RangeShape& shape, alloc::PoolId pool,
                    const alloc::Interval& values, std::string_view why) {
  return {{"from", CountText(values.first - shape.all.first)},
          {"to", CountText(values.last - shape.all.first)},
          {"first", ValueTextOf(pool, values.first)},
          {"last", ValueTextOf(pool, values.last)},
          {"why", why}};
}

}  // namespace

base::Result<Value> RangeDetailDocument(const Scene& scene, std::string_view key) {
  const auto range = RangeOfKey(scene, key);
  if (!range) return tl::unexpected(range.error());
  const inspect::RangeRef& ref = (*range)->ref;
  const inspect::RangeShape shape = inspect::ShapeOf(scene.census(), ref);
  const auto band = [&](const std::optional<alloc::Interval>& values, std::string_view why) {
    return values ? Value(SpanDocument(shape, ref.pool, *values, why)) : Value();
  };
  Object object = RangeCardDocument(scene, **range);
  object.Set("seq", scene.seq());
  object.Set("bits", uint64_t{shape.bits});
  object.Set("staticPart", band(shape.static_band, "static band"));
  object.Set("dynamicPart", band(shape.dynamic_band, "dynamic band"));
  codec::Array exclusions;
  for (const inspect::NeverGiven& each : shape.never_given) {
    exclusions.push_back(SpanDocument(shape, ref.pool, each.values, each.why));
  }
  object.Set("exclusions", std::move(exclusions));
  codec::Array overlaps;
  for (const inspect::Shared& each : shape.shared) {
    Object overlap = SpanDocument(shape, ref.pool, each.values, "in another range too");
    overlap.Set("key", inspect::KeyOf(each.range));
    overlap.Set("label", inspect::TitleOf(each.range));
    overlaps.push_back(std::move(overlap));
  }
  object.Set("overlaps", std::move(overlaps));
  return Value(std::move(object));
}

}  // namespace berth::cli
