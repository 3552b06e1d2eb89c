// What a text that a person types may mean.
#include "berth/inspect/document_parts.h"
#include "berth/ui/scene.h"
#include "berth/ui/scene_parts.h"
#include "inspect/range_shape.h"
#include "inspect/search.h"

namespace berth::cli {

using codec::Object;
using codec::Value;

base::Result<Value> SearchDocument(const Scene& scene, std::string_view text) {
  const auto filter = inspect::Filter::Read(text);
  if (!filter) return tl::unexpected(filter.error());
  const inspect::SearchAnswer found = inspect::Search(scene.census(), *filter);
  codec::Array hits;
  for (const inspect::Hit& hit : found.hits) {
    const bool shown = hit.range && hit.values;
    hits.push_back(
        Object{{"kind", inspect::NameOf(hit.kind)},
               {"title", hit.title},
               {"text", hit.text},
               {"value", hit.value ? Value(alloc::TextOf(*hit.value)) : Value()},
               {"service", StringOrNull(hit.service)},
               {"key", shown ? Value(inspect::KeyOf(*hit.range)) : Value()},
               {"first", shown ? ValueTextOf(hit.range->pool, hit.values->first) : Value()},
               {"last", shown ? ValueTextOf(hit.range->pool, hit.values->last) : Value()},
               {"find", StringOrNull(hit.find)}});
  }
  return Value(Object{{"seq", scene.seq()}, {"hits", std::move(hits)}, {"more", found.more}});
}

}  // namespace berth::cli
