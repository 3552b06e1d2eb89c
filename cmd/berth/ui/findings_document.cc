// What is wrong with the cluster, grouped by kind.
#include "berth/inspect/document_parts.h"
#include "berth/ui/scene.h"
#include "inspect/range_shape.h"

namespace berth::cli {

codec::Value FindingsDocument(const Scene& scene) {
  using codec::Object;
  using codec::Value;
  codec::Array groups;
  for (const inspect::FindingGroup& group : scene.findings()) {
    codec::Array items;
    for (const inspect::GroupItem& item : group.items) {
      items.push_back(Object{{"message", item.message},
                             {"advice", item.advice},
                             {"value", item.value ? Value(alloc::TextOf(*item.value)) : Value()},
                             {"service", StringOrNull(item.service)},
                             {"key", item.range ? Value(inspect::KeyOf(*item.range)) : Value()}});
    }
    groups.push_back(Object{{"kind", group.kind},
                            {"title", group.title},
                            {"severity", inspect::NameOf(group.severity)},
                            {"why", group.why},
                            {"count", group.count},
                            {"items", std::move(items)}});
  }
  return Object{{"seq", scene.seq()}, {"groups", std::move(groups)}};
}

}  // namespace berth::cli
