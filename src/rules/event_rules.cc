#include "rules/event_rules.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "codec/protobuf.h"

namespace berth::rules {
namespace {

struct Rename {
  std::string_view from;
  std::string_view to;
};

// Every field, in the order of the target form.
constexpr auto kToCore = std::to_array<Rename>({
    {"kind", "kind"},
    {"apiVersion", "apiVersion"},
    {"metadata", "metadata"},
    {"regarding", "involvedObject"},
    {"reason", "reason"},
    {"note", "message"},
    {"deprecatedSource", "source"},
    {"deprecatedFirstTimestamp", "firstTimestamp"},
    {"deprecatedLastTimestamp", "lastTimestamp"},
    {"deprecatedCount", "count"},
    {"type", "type"},
    {"eventTime", "eventTime"},
    {"series", "series"},
    {"action", "action"},
    {"related", "related"},
    {"reportingController", "reportingComponent"},
    {"reportingInstance", "reportingInstance"},
});
constexpr auto kToNew = std::to_array<Rename>({
    {"kind", "kind"},
    {"apiVersion", "apiVersion"},
    {"metadata", "metadata"},
    {"eventTime", "eventTime"},
    {"series", "series"},
    {"reportingComponent", "reportingController"},
    {"reportingInstance", "reportingInstance"},
    {"action", "action"},
    {"reason", "reason"},
    {"involvedObject", "regarding"},
    {"related", "related"},
    {"message", "note"},
    {"type", "type"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
});

template <size_t N>
codec::Value Renamed(const codec::Value& event, const std::array<Rename, N>& fields) {
  codec::Object out;
  out.Reserve(N);
  for (const Rename& field : fields) {
    const codec::Value* value = event.Find(field.from);
    if (value != nullptr) out.Set(std::string(field.to), *value);
  }
  // Both forms have the fields 1 to 15, so a field that is unknown in one is unknown in the other.
  if (const codec::Value* unknown = event.Find(codec::kUnknownFields)) {
    out.Set(std::string(codec::kUnknownFields), *unknown);
  }
  return out;
}

}  // namespace

codec::Value EventToCore(const codec::Value& event) { return Renamed(event, kToCore); }

codec::Value EventToNew(const codec::Value& event) { return Renamed(event, kToNew); }

}  // namespace berth::rules
