// What changed between two scenes, for the pages that are open.
#include "berth/inspect/document_parts.h"
#include "berth/ui/scene.h"
#include "berth/ui/scene_parts.h"
#include "codec/timestamp.h"
#include "inspect/changes.h"
#include "inspect/names.h"
#include "inspect/range_shape.h"

namespace berth::cli {
namespace {

using codec::Object;
using codec::Value;

constexpr size_t kMostChanges = 200;
constexpr size_t kMostRangesOfChange = 10;

Value ChangeDocument(const Scene& scene, const inspect::Change& change) {
  codec::Array keys;
  codec::Array offsets;
  for (const inspect::RangeRef& range : scene.census().RangesOf(change.value)) {
    if (keys.size() == kMostRangesOfChange) break;
    keys.emplace_back(inspect::KeyOf(range));
    offsets.push_back(CountText(change.value.value - inspect::AllValuesOf(*range.row).first));
  }
  return Object{{"value", alloc::TextOf(change.value)},
                {"pool", inspect::NameOf(change.value.pool)},
                {"what", inspect::NameOf(change.kind)},
                {"service", StringOrNull(change.owner)},
                {"keys", std::move(keys)},
                {"offsets", std::move(offsets)}};
}

}  // namespace

Value ViewDocument(const Scene* before, const Scene& now) {
  codec::Array changes;
  uint64_t more = 0;
  if (before != nullptr) {
    const auto found = inspect::FindChanges(before->used(), now.used(), kMostChanges);
    for (const inspect::Change& each : found.listed) changes.push_back(ChangeDocument(now, each));
    more = found.more;
  }
  return Object{{"seq", now.seq()},
                {"readAt", codec::FormatTime(now.cluster().read_at)},
                {"changes", std::move(changes)},
                {"more", more}};
}

}  // namespace berth::cli
