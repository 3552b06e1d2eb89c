#include "berth/inspect/document_parts.h"

#include <utility>

#include "codec/timestamp.h"
#include "inspect/names.h"

namespace berth::cli {
namespace {

using codec::Object;
using codec::Value;

Value ServerName(inspect::ServerKind server) {
  if (server == inspect::ServerKind::kUnknown) return {};
  return server == inspect::ServerKind::kBerth ? "Berth" : "Kubernetes";
}

}  // namespace

ValueKind KindOf(alloc::PoolId pool) {
  if (pool == alloc::PoolId::kPorts) return ValueKind::kNodePort;
  return pool == alloc::PoolId::kIpv4 ? ValueKind::kIpv4 : ValueKind::kIpv6;
}

Value StringOrNull(std::string_view text) { return text.empty() ? Value() : Value(text); }

Value TimeOrNull(const std::optional<base::WallTime>& time) {
  return time ? Value(codec::FormatTime(*time)) : Value();
}

void SetNumber(Object& object, const std::string& key, base::U128 number) {
  object.Set(key, base::SaturateToInt64(number));
  object.Set(key + "Text", base::ToDecimal(number));
}

void SetValues(Object& object, alloc::PoolId pool, const alloc::Interval& values) {
  object.Set("first", alloc::TextOf({.pool = pool, .value = values.first}));
  object.Set("last", alloc::TextOf({.pool = pool, .value = values.last}));
  SetNumber(object, "size", values.Size());
}

Object ServiceDocument(const inspect::Service& service) {
  return {
      {"namespace", service.object.name_space}, {"name", service.object.name},
      {"type", StringOrNull(service.type)},     {"created", TimeOrNull(service.created)},
      {"deleting", service.deleting},           {"controller", StringOrNull(service.controller)},
      {"tool", StringOrNull(service.tool)}};
}

Value RangeRefDocument(const inspect::RangeRef& range) {
  return Object{{"name", range.row->name},
                {"range", range.row->text},
                {"kind", inspect::NameOf(range.pool)},
                {"source", range.range == nullptr ? Value() : StringOrNull(range.range->source)},
                {"exact", range.range == nullptr || range.range->exact},
                {"open", range.row->open}};
}

Object DocumentOf(std::string_view kind, const inspect::Cluster& cluster) {
  return {{"kind", kind},
          {"source", cluster.source},
          {"readAt", codec::FormatTime(cluster.read_at)},
          {"server", ServerName(cluster.server)},
          {"version", StringOrNull(cluster.version)},
          {"revision", cluster.revision == 0 ? Value() : Value(cluster.revision)}};
}

Value GapsDocument(const inspect::Cluster& cluster) { return GapsDocument(cluster.gaps); }

Value GapsDocument(const std::vector<inspect::Gap>& gaps) {
  codec::Array array;
  for (const inspect::Gap& gap : gaps) {
    array.push_back(Object{{"what", gap.what}, {"advice", StringOrNull(gap.advice)}});
  }
  return array;
}

}  // namespace berth::cli
