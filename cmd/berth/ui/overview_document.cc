// What the page shows first: ranges, what needs attention, and who holds most.
#include <algorithm>
#include <numeric>
#include <string>

#include "berth/inspect/document_parts.h"
#include "berth/inspect/top_document.h"
#include "berth/ui/scene.h"
#include "berth/ui/scene_parts.h"
#include "codec/timestamp.h"
#include "inspect/names.h"
#include "inspect/range_shape.h"

namespace berth::cli {
namespace {

using codec::Object;
using codec::Value;

std::string_view ServerText(inspect::ServerKind server) {
  if (server == inspect::ServerKind::kUnknown) return "unknown";
  return server == inspect::ServerKind::kBerth ? "Berth" : "Kubernetes";
}

Value TroubleDocument(const std::optional<SceneTrouble>& trouble) {
  if (!trouble) return {};
  return Object{{"message", trouble->message}, {"since", codec::FormatTime(trouble->since)}};
}

Value AttentionList(const Scene& scene) {
  codec::Array array;
  for (const inspect::Attention& each : scene.top().attention) {
    const auto range = std::ranges::find_if(
        scene.top().ranges,
        [&](const inspect::TopRange& other) { return other.text() == each.range; });
    const bool known = !each.range.empty() && range != scene.top().ranges.end();
    array.push_back(Object{{"severity", inspect::NameOf(each.severity)},
                           {"kind", inspect::NameOf(each.kind)},
                           {"range", StringOrNull(each.range)},
                           {"key", known ? Value(inspect::KeyOf(range->ref)) : Value()},
                           {"message", each.message},
                           {"advice", StringOrNull(each.advice)}});
  }
  return array;
}

void SetFindings(Object& object, const Scene& scene) {
  uint64_t count = 0;
  for (const inspect::FindingGroup& group : scene.findings()) count += group.count;
  object.Set("findingCount", count);
  object.Set("findingSeverity", scene.findings().empty()
                                    ? Value()
                                    : Value(inspect::NameOf(scene.findings().front().severity)));
}

}  // namespace

Value OverviewDocument(const Scene& scene, const std::optional<SceneTrouble>& trouble) {
  const inspect::Cluster& cluster = scene.cluster();
  Object object{{"seq", scene.seq()},
                {"source", cluster.source},
                {"server", ServerText(cluster.server)},
                {"version", StringOrNull(cluster.version)},
                {"readAt", codec::FormatTime(cluster.read_at)},
                {"live", scene.options().live},
                {"trouble", TroubleDocument(trouble)},
                {"hasHistory", scene.options().past != nullptr}};
  codec::Array ranges;
  for (const inspect::TopRange& range : scene.top().ranges) {
    ranges.push_back(RangeCardDocument(scene, range));
  }
  object.Set("ranges", std::move(ranges));
  object.Set("attention", AttentionList(scene));
  object.Set("serviceCount", uint64_t{cluster.services.size()});
  object.Set("namespaceCount", uint64_t{scene.top().namespaces});
  object.Set("namespaces", HoldersDocument(scene.top().holders));
  Object types;
  for (const auto& [type, count] : scene.top().types) types.Set(type, count);
  object.Set("types", std::move(types));
  SetFindings(object, scene);
  object.Set("gaps", GapsDocument(scene.top().gaps));
  return object;
}

}  // namespace berth::cli
