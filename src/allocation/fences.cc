#include "allocation/fences.h"

#include "allocation/range_facts.h"
#include "codec/encode.h"
#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::allocation {
namespace {

using alloc::PoolId;
using codec::Value;

constexpr std::string_view kPrefix = "/registry/berth.io/fence/";
constexpr alloc::PerPool<std::string_view> kNames = {{"ipv4", "ipv6", "nodeports"}};

std::string_view NameOf(PoolId pool) { return kNames[pool]; }

const registry::Row* RangeRowOf(const RecordRows& rows, std::string_view key) {
  for (const registry::Row* row : {rows.ip_ranges, rows.service_cidrs, rows.node_port_ranges}) {
    if (key.starts_with(row->prefix)) return row;
  }
  return nullptr;
}

Value ClosingOf(const ClosedFence& closed) {
  codec::Array objects;
  for (const auto& [key, json] : closed.objects) {
    codec::Object entry{{"key", key}};
    if (json) entry.Set("object", *json);
    objects.emplace_back(std::move(entry));
  }
  return codec::Object{{"operation", closed.operation},
                       {"since", codec::FormatTime(closed.since)},
                       {"objects", std::move(objects)}};
}

}  // namespace

std::string FenceKey(PoolId pool) { return std::string(kPrefix) + std::string(NameOf(pool)); }

std::optional<PoolId> PoolOfFence(std::string_view name) {
  for (const PoolId pool : alloc::kAllPools) {
    if (name == kNames[pool]) return pool;
  }
  return std::nullopt;
}

std::optional<ClosedFence> ReadFence(const registry::Row& fences, const state::Object& fence) {
  const auto value = registry::DecodeWithoutManagedFields(fences, fence);
  if (!value) return std::nullopt;
  const Value* closing = codec::FindAt(*value, "spec", "closing");
  if (closing == nullptr) return std::nullopt;
  ClosedFence closed{.operation = std::string(codec::StringAt(*closing, "operation"))};
  if (const auto since = codec::ParseTime(codec::StringAt(*closing, "since"))) {
    closed.since = *since;
  }
  for (const Value& entry : codec::ArrayAt(*closing, "objects")) {
    const Value* object = codec::FindAt(entry, "object");
    auto& next = closed.objects[std::string(codec::StringAt(entry, "key"))];
    if (object != nullptr) next = std::string(codec::Text(object));
  }
  return closed;
}

std::optional<std::pair<PoolId, std::optional<alloc::Closing>>> ReadClosing(
    const RecordRows& rows, const registry::Gates& gates, const state::Object& object) {
  if (rows.fences == nullptr || object.Resource() != rows.fences->resource) return std::nullopt;
  const auto pool = PoolOfFence(object.Name());
  if (!pool) return std::nullopt;
  const auto closed = ReadFence(*rows.fences, object);
  if (!closed) return std::pair(*pool, std::optional<alloc::Closing>());
  alloc::Closing closing{.operation = closed->operation};
  for (const auto& [key, json] : closed->objects) {
    auto& next = closing.next[key];
    const registry::Row* row = RangeRowOf(rows, key);
    if (!json || row == nullptr) continue;
    if (const auto range = codec::DecodeWire(*json, *row->kind->message)) {
      next = RangeFactsOf(*row, *range, gates);
    }
  }
  return std::pair(*pool, std::optional(std::move(closing)));
}

Value FenceObject(PoolId pool, const ClosedFence* closed, base::WallTime now) {
  codec::Object spec;
  if (closed != nullptr) spec.Set("closing", ClosingOf(*closed));
  return codec::Object{{"metadata", codec::Object{{"name", NameOf(pool)},
                                                  {"creationTimestamp", codec::FormatTime(now)}}},
                       {"spec", std::move(spec)}};
}

commit::ExtraPut FencePut(const registry::Row& fences, PoolId pool, const ClosedFence* closed,
                          base::WallTime now) {
  const Value object = FenceObject(pool, closed, now);
  return {.key = FenceKey(pool),
          .stored = registry::ToStored(fences, object),
          .wire = registry::ToWireText(fences, object)};
}

}  // namespace berth::allocation
