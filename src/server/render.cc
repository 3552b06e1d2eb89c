#include "server/render.h"

#include <fmt/format.h>

#include <utility>

#include "api/meta.h"
#include "codec/encode.h"
#include "codec/json.h"
#include "codec/proto_frame.h"
#include "codec/protobuf.h"
#include "codec/read.h"
#include "codec/yaml.h"
#include "registry/object_errors.h"
#include "registry/registry.h"
#include "rules/table.h"
#include "server/status_body.h"

namespace berth::server {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;

std::string MetaVersion(const ResponseFormat& format) {
  return fmt::format("meta.k8s.io/{}", format.transform_version);
}

codec::Identity IdentityOf(const ResponseFormat& format) {
  const api::Kind& kind = format.served.Kind();
  return {.api_version = kind.api_version, .kind = kind.kind};
}

/// Decodes an object of the snapshot. This cannot fail, because the object was made from a decoded
/// one. If it does, the object is shown without content.
Value Canonical(const ResponseFormat& format, const state::Object& object, int64_t revision) {
  auto value = registry::Registry::Decode(*format.served.row, object);
  if (!value) return Object();
  if (revision > 0) codec::SetAt(*value, {"metadata", "resourceVersion"}, std::to_string(revision));
  return format.served.Show(*std::move(value), object, *format.hooks);
}

/// Appends the object's bytes of the snapshot by `append`, if they can be sent as they are. Returns
/// false and appends nothing if they cannot.
template <typename Append>
bool AppendPlain(const ResponseFormat& format, const state::Object& object, std::string& out,
                 const Append& append) {
  if (!format.IsPlain()) return false;
  const size_t before = out.size();
  append();
  if (format.hooks->IsFresh(object, std::string_view(out).substr(before))) return true;
  out.resize(before);
  return false;
}

Value Partial(const ResponseFormat& format, const Value& canonical) {
  const Value document =
      codec::ToDocument(canonical, *format.served.Kind().message, IdentityOf(format));
  Object partial{{"kind", "PartialObjectMetadata"}, {"apiVersion", MetaVersion(format)}};
  if (const Value* metadata = document.Find("metadata")) partial.Set("metadata", *metadata);
  return partial;
}

Value Row(const ResponseFormat& format, const Value& canonical, base::WallTime now) {
  Object row{
      {"cells", rules::Cells(registry::QualifiedKind(format.served.Kind()), canonical, now)}};
  if (format.include == IncludeObject::kObject) {
    row.Set("object",
            codec::ToDocument(canonical, *format.served.Kind().message, IdentityOf(format)));
  } else if (format.include == IncludeObject::kMetadata) {
    row.Set("object", Partial(format, canonical));
  } else {
    row.Set("object", nullptr);
  }
  return row;
}

Array ColumnDefinitions(const ResponseFormat& format) {
  Array columns;
  for (const rules::Column& column :
       rules::Columns(registry::QualifiedKind(format.served.Kind()))) {
    columns.emplace_back(Object{{"name", column.name},
                                {"type", column.type},
                                {"format", column.format},
                                {"description", column.description},
                                {"priority", column.priority}});
  }
  return columns;
}

Object MetaDocument(const ListMeta& meta) {
  Object metadata;
  if (meta.revision > 0) metadata.Set("resourceVersion", std::to_string(meta.revision));
  if (!meta.continue_token.empty()) metadata.Set("continue", meta.continue_token);
  if (meta.remaining >= 0) metadata.Set("remainingItemCount", meta.remaining);
  return metadata;
}

Value Table(const ResponseFormat& format, const ListMeta& meta, bool columns, Array rows) {
  Object table{
      {"kind", "Table"}, {"apiVersion", MetaVersion(format)}, {"metadata", MetaDocument(meta)}};
  table.Set("columnDefinitions", columns ? Value(ColumnDefinitions(format)) : Value(nullptr));
  table.Set("rows", std::move(rows));
  return table;
}

Value TransformedDocument(const ResponseFormat& format, const state::Object& object,
                          int64_t revision, bool columns, base::WallTime now) {
  const Value canonical = Canonical(format, object, revision);
  switch (format.transform) {
    case Transform::kTable:
      return Table(format, {.revision = revision}, columns, Array{Row(format, canonical, now)});
    case Transform::kPartial:
    case Transform::kPartialList:
      return Partial(format, canonical);
    case Transform::kNone:
      break;
  }
  return codec::ToDocument(canonical, *format.served.Kind().message, IdentityOf(format));
}

/// Returns kind and apiVersion of a list.
std::pair<std::string, std::string> ListIdentity(const ResponseFormat& format) {
  if (format.transform == Transform::kPartialList || format.transform == Transform::kPartial) {
    return {"PartialObjectMetadataList", MetaVersion(format)};
  }
  return {std::string(format.served.Kind().list_kind),
          std::string(format.served.Kind().api_version)};
}

Object BookmarkMetadata(int64_t revision, bool initial_end) {
  Object metadata{{"resourceVersion", std::to_string(revision)}};
  if (initial_end) {
    metadata.Set("annotations", Object{{"k8s.io/initial-events-end", "true"}});
  }
  return metadata;
}

bool IsProto(const ResponseFormat& format) { return format.media == Media::kProtobuf; }

/// Encodes the object, or a PartialObjectMetadata, which has only the metadata, as field 1.
std::string ProtoMessage(const ResponseFormat& format, const Value& canonical) {
  if (format.transform == Transform::kNone) {
    return codec::EncodeProto(canonical, *format.served.Kind().message);
  }
  const Value* metadata = canonical.Find("metadata");
  std::string message;
  codec::AppendProtoField(
      message, 1, codec::EncodeProto(metadata == nullptr ? Object() : *metadata, api::kObjectMeta));
  return message;
}

std::string ProtoObject(const ResponseFormat& format, const Value& canonical) {
  if (format.transform == Transform::kNone) {
    return codec::EncodeEnvelope(canonical, format.served.Kind());
  }
  return codec::WrapEnvelope(MetaVersion(format), "PartialObjectMetadata",
                             ProtoMessage(format, canonical));
}

/// The field numbers of a list's metadata and items. Fields are written in the order of numbers.
struct ListNumbers {
  uint32_t metadata = 1;
  uint32_t items = 2;
};
ListNumbers NumbersOf(const ResponseFormat& format) {
  const bool old = format.transform != Transform::kNone && format.transform_version == "v1beta1";
  return old ? ListNumbers{.metadata = 2, .items = 1} : ListNumbers{};
}

std::string ProtoListMeta(const ResponseFormat& format, const ListMeta& meta) {
  std::string field;
  codec::AppendProtoField(field, NumbersOf(format).metadata,
                          codec::EncodeProto(MetaDocument(meta), api::kListMeta));
  return field;
}

std::string ProtoListHead(const ResponseFormat& format, const ListMeta& meta, size_t items_bytes) {
  const auto [kind, version] = ListIdentity(format);
  const std::string metadata = ProtoListMeta(format, meta);
  std::string head =
      codec::EnvelopeHead({.api_version = version, .kind = kind}, metadata.size() + items_bytes);
  if (NumbersOf(format).metadata == 1) head += metadata;
  return head;
}

std::string ProtoListTail(const ResponseFormat& format, const ListMeta& meta) {
  std::string tail = NumbersOf(format).metadata == 1 ? "" : ProtoListMeta(format, meta);
  return tail.append(codec::kEnvelopeTail);
}

}  // namespace

uint32_t ResponseFormat::Id() const {
  auto id = static_cast<uint32_t>(served.view - served.row->views.data());
  id = id << 2 | static_cast<uint32_t>(media);
  id = id << 2 | static_cast<uint32_t>(transform);
  id = id << 2 | static_cast<uint32_t>(include);
  return id << 2 | (transform_version == "v1" ? 0U : 1U) << 1 | (pretty ? 1U : 0U);
}

std::string_view ContentType(const ResponseFormat& format) { return MediaName(format.media); }

std::string_view WatchContentType(const ResponseFormat& format) {
  return IsProto(format) ? "application/vnd.kubernetes.protobuf;stream=watch" : ContentType(format);
}

std::string RenderDocument(const ResponseFormat& format, const Value& document) {
  if (IsProto(format)) return RenderStatus(document, format.media, false);
  if (format.media == Media::kYaml) return codec::WriteYaml(document);
  return codec::WriteJson(document, {.indent = format.pretty ? 2 : 0}) + "\n";
}

std::string RenderObject(const ResponseFormat& format, const state::Object& object,
                         int64_t revision, base::WallTime now) {
  std::string out;
  if (format.IsPlain()) out.reserve(object.JsonSize() + 1);
  if (AppendPlain(format, object, out, [&] { object.AppendJson(out, revision); })) {
    out.push_back('\n');
    return out;
  }
  if (IsProto(format)) return ProtoObject(format, Canonical(format, object, revision));
  return RenderDocument(format, TransformedDocument(format, object, revision, true, now));
}

std::string ListHead(const ResponseFormat& format, const ListMeta& meta, size_t items_bytes) {
  if (IsProto(format)) return ProtoListHead(format, meta, items_bytes);
  if (format.transform == Transform::kTable) {
    return fmt::format(
        "{{\"kind\":\"Table\",\"apiVersion\":\"{}\",\"metadata\":{},"
        "\"columnDefinitions\":{},\"rows\":[",
        MetaVersion(format), codec::WriteJson(MetaDocument(meta)),
        codec::WriteJson(ColumnDefinitions(format)));
  }
  const auto [kind, version] = ListIdentity(format);
  return fmt::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[", kind,
                     version, codec::WriteJson(MetaDocument(meta)));
}

void AppendItem(const ResponseFormat& format, const state::Object& object, base::WallTime now,
                std::string& out) {
  if (AppendPlain(format, object, out, [&] { object.AppendListItem(out); })) return;
  const Value canonical = Canonical(format, object, object.Revision());
  if (IsProto(format)) {
    codec::AppendProtoField(out, NumbersOf(format).items, ProtoMessage(format, canonical));
  } else if (format.transform == Transform::kTable) {
    out += codec::WriteJson(Row(format, canonical, now));
  } else if (format.transform != Transform::kNone) {
    out += codec::WriteJson(Partial(format, canonical));
  } else {
    out += codec::EncodeMessage(canonical, *format.served.Kind().message);
  }
}

std::string_view ListSeparator(const ResponseFormat& format) { return IsProto(format) ? "" : ","; }

std::string ListTail(const ResponseFormat& format, const ListMeta& meta) {
  return IsProto(format) ? ProtoListTail(format, meta) : "]}\n";
}

size_t ItemsBytes(const ResponseFormat& format, std::span<const state::ObjectPtr> objects,
                  base::WallTime now) {
  size_t bytes = 0;
  std::string item;
  for (const state::ObjectPtr& object : objects) {
    item.clear();
    AppendItem(format, *object, now, item);
    bytes += item.size();
  }
  return bytes;
}

std::string RenderList(const ResponseFormat& format, const ListMeta& meta,
                       std::span<const state::ObjectPtr> objects, base::WallTime now) {
  if (IsProto(format)) {
    std::string items;
    for (const state::ObjectPtr& object : objects) AppendItem(format, *object, now, items);
    std::string list = ListHead(format, meta, items.size());
    return list.append(items).append(ListTail(format, meta));
  }
  Array items;
  for (const state::ObjectPtr& object : objects) {
    const Value canonical = Canonical(format, *object, object->Revision());
    if (format.transform == Transform::kTable) {
      items.push_back(Row(format, canonical, now));
    } else if (format.transform != Transform::kNone) {
      items.push_back(Partial(format, canonical));
    } else {
      items.push_back(codec::ToDocument(canonical, *format.served.Kind().message));
    }
  }
  if (format.transform == Transform::kTable) {
    return RenderDocument(format, Table(format, meta, true, std::move(items)));
  }
  const auto [kind, version] = ListIdentity(format);
  // As in Kubernetes, a list of metadata that is empty has null.
  const bool null = items.empty() && format.transform != Transform::kNone;
  return RenderDocument(format, Object{{"kind", kind},
                                       {"apiVersion", version},
                                       {"metadata", MetaDocument(meta)},
                                       {"items", null ? Value() : Value(std::move(items))}});
}

std::string RenderEvent(const ResponseFormat& format, std::string_view type,
                        const state::Object& object, int64_t revision, bool first,
                        base::WallTime now) {
  if (IsProto(format)) {
    return codec::WatchFrame(type, ProtoObject(format, Canonical(format, object, revision)));
  }
  std::string out = fmt::format("{{\"type\":\"{}\",\"object\":", type);
  if (!AppendPlain(format, object, out, [&] { object.AppendJson(out, revision); })) {
    out += codec::WriteJson(TransformedDocument(format, object, revision, first, now));
  }
  return out + "}\n";
}

std::string RenderBookmark(const ResponseFormat& format, int64_t revision, bool initial_end) {
  const Object metadata = BookmarkMetadata(revision, initial_end);
  if (IsProto(format)) {
    return codec::WatchFrame("BOOKMARK", ProtoObject(format, Object{{"metadata", metadata}}));
  }
  Value object;
  if (format.transform == Transform::kTable) {
    object = Table(format, {.revision = revision}, false, {});
    // The annotation belongs to the object that the row contains.
    if (initial_end) {
      object.Set("rows", Array{Object{{"cells", Array()},
                                      {"object", Object{{"kind", "PartialObjectMetadata"},
                                                        {"apiVersion", MetaVersion(format)},
                                                        {"metadata", metadata}}}}});
    }
  } else if (format.transform != Transform::kNone) {
    object = Object{{"kind", "PartialObjectMetadata"},
                    {"apiVersion", MetaVersion(format)},
                    {"metadata", metadata}};
  } else {
    object = codec::ToDocument(Object{{"metadata", metadata}}, *format.served.Kind().message,
                               IdentityOf(format));
  }
  return fmt::format("{{\"type\":\"BOOKMARK\",\"object\":{}}}\n", codec::WriteJson(object));
}

std::string RenderErrorEvent(const ResponseFormat& format, const base::Error& error) {
  const Value status = FailureStatus(error);
  if (IsProto(format)) {
    return codec::WatchFrame("ERROR", RenderStatus(status, format.media, false));
  }
  return fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", codec::WriteJson(status));
}

}  // namespace berth::server
