#include "merge/last_applied.h"

#include <string>
#include <string_view>
#include <utility>

#include "codec/json.h"
#include "codec/read.h"
#include "merge/compare.h"
#include "merge/go_json.h"
#include "merge/typed.h"

namespace berth::merge {
namespace {

using codec::StringAt;
using codec::Value;

constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/// The limit for all keys and values together.
constexpr size_t kMostAnnotationBytes = size_t{256} * 1024;

size_t SizeOf(const codec::Object& annotations) {
  size_t size = 0;
  for (const codec::Member& member : annotations) {
    size += member.key.size() + codec::Text(&member.value).size();
  }
  return size;
}

}  // namespace

FieldSet FieldsLastApplied(const Value& document, const Value& live, const api::Kind& kind) {
  auto applied = codec::ParseJson(StringAt(live, "metadata", "annotations", kAnnotation));
  if (!applied) return {};
  if (StringAt(*applied, "apiVersion") != kind.api_version ||
      StringAt(*applied, "kind") != kind.kind) {
    return {};
  }
  codec::EraseAt(*applied, {"apiVersion"});
  codec::EraseAt(*applied, {"kind"});
  const api::Message& message = *kind.message;
  if (!FindTypeErrors(*applied, message).empty() || !FindTypeErrors(document, message).empty()) {
    return {};
  }
  const Comparison comparison = Compare(*applied, document, message, {.layout = Layout::kDocument});
  return FieldsOf(*applied, message).Difference(comparison.changed).Difference(comparison.removed);
}

void UpdateLastApplied(Value& object, const Value& config) {
  if (StringAt(object, "metadata", "annotations", kAnnotation).empty()) return;
  Value applied = config;
  if (Value* annotations = codec::FindAt(applied, "metadata", "annotations")) {
    if (annotations->IsNull()) {
      codec::EraseAt(applied, {"metadata", "annotations"});
    } else {
      codec::EraseAt(*annotations, {kAnnotation});
    }
  }
  std::string text;
  AppendGoJson(text, applied);
  text += '\n';
  codec::SetAt(object, {"metadata", "annotations", kAnnotation}, std::move(text));
  if (SizeOf(codec::ObjectAt(object, "metadata", "annotations")) <= kMostAnnotationBytes) return;
  codec::EraseAt(object, {"metadata", "annotations", kAnnotation});
  if (codec::ObjectAt(object, "metadata", "annotations").empty()) {
    codec::EraseAt(object, {"metadata", "annotations"});
  }
}

}  // namespace berth::merge
