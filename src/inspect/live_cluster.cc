#include "inspect/live_cluster.h"

#include <fmt/format.h>

#include <utility>

#include "codec/read.h"

namespace berth::inspect {
namespace {

std::string LiveKey(const codec::Value& object) {
  return fmt::format("{}/{}", codec::StringAt(object, "metadata", "namespace"),
                     codec::StringAt(object, "metadata", "name"));
}

}  // namespace

void LiveCluster::EndList(size_t kind) {
  OfKind& of = kinds_[kind];
  std::erase_if(of.objects, [&of](const auto& entry) { return entry.second.list != of.list; });
}

void LiveCluster::Put(size_t kind, const codec::Value& object) {
  ClusterReader reader({});
  add_[kind](reader, object);
  Cluster& view = reader.view();
  kinds_[kind].objects[LiveKey(object)] = {.list = kinds_[kind].list,
                                           .services = std::move(view.services),
                                           .records = std::move(view.records),
                                           .ranges = std::move(view.ranges)};
}

void LiveCluster::Remove(size_t kind, const codec::Value& object) {
  kinds_[kind].objects.erase(LiveKey(object));
}

void LiveCluster::AddTo(ClusterReader& reader) const {
  Cluster& view = reader.view();
  for (const OfKind& of : kinds_) {
    for (const auto& [key, parts] : of.objects) {
      view.services.insert(view.services.end(), parts.services.begin(), parts.services.end());
      view.records.insert(view.records.end(), parts.records.begin(), parts.records.end());
      view.ranges.insert(view.ranges.end(), parts.ranges.begin(), parts.ranges.end());
    }
  }
}

}  // namespace berth::inspect
