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
#include "registry/errors.h"
#include "registry/registry.h"
#include "rules/table.h"
#include "server/status_body.h"

namespace berth::server {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;

std::string MetaVersion(const Form& form) {
  return fmt::format("meta.k8s.io/{}", form.transform_version);
}

codec::Identity IdentityOf(const Form& form) {
  const api::Kind& kind = form.served.Kind();
  return {.api_version = kind.api_version, .kind = kind.kind};
}

/// What the picture holds cannot fail to decode: it was made from a decoded object. If it does, the
/// object is shown without content.
Value Canonical(const Form& form, const state::Object& object, int64_t revision) {
  auto value = registry::Registry::Decode(*form.served.row, object);
  if (!value) return Object();
  if (revision > 0) codec::SetAt(*value, {"metadata", "resourceVersion"}, std::to_string(revision));
  return form.served.Show(*std::move(value), object);
}

Value Partial(const Form& form, const Value& canonical) {
  const Value document =
      codec::ToDocument(canonical, *form.served.Kind().message, IdentityOf(form));
  Object partial{{"kind", "PartialObjectMetadata"}, {"apiVersion", MetaVersion(form)}};
  if (const Value* metadata = document.Find("metadata")) partial.Set("metadata", *metadata);
  return partial;
}

Value Row(const Form& form, const Value& canonical, base::WallTime now) {
  Object row{{"cells", rules::Cells(registry::QualifiedKind(form.served.Kind()), canonical, now)}};
  if (form.include == IncludeObject::kObject) {
    row.Set("object", codec::ToDocument(canonical, *form.served.Kind().message, IdentityOf(form)));
  } else if (form.include == IncludeObject::kMetadata) {
    row.Set("object", Partial(form, canonical));
  } else {
    row.Set("object", nullptr);
  }
  return row;
}

Array ColumnDefinitions(const Form& form) {
  Array columns;
  for (const rules::Column& column : rules::Columns(registry::QualifiedKind(form.served.Kind()))) {
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

Value Table(const Form& form, const ListMeta& meta, bool columns, Array rows) {
  Object table{
      {"kind", "Table"}, {"apiVersion", MetaVersion(form)}, {"metadata", MetaDocument(meta)}};
  table.Set("columnDefinitions", columns ? Value(ColumnDefinitions(form)) : Value(nullptr));
  table.Set("rows", std::move(rows));
  return table;
}

Value TransformedDocument(const Form& form, const state::Object& object, int64_t revision,
                          bool columns, base::WallTime now) {
  const Value canonical = Canonical(form, object, revision);
  switch (form.transform) {
    case Transform::kTable:
      return Table(form, {.revision = revision}, columns, Array{Row(form, canonical, now)});
    case Transform::kPartial:
    case Transform::kPartialList:
      return Partial(form, canonical);
    case Transform::kNone:
      break;
  }
  return codec::ToDocument(canonical, *form.served.Kind().message, IdentityOf(form));
}

/// kind and apiVersion of a list.
std::pair<std::string, std::string> ListIdentity(const Form& form) {
  if (form.transform == Transform::kPartialList || form.transform == Transform::kPartial) {
    return {"PartialObjectMetadataList", MetaVersion(form)};
  }
  return {std::string(form.served.Kind().list_kind), std::string(form.served.Kind().api_version)};
}

Object BookmarkMetadata(int64_t revision, bool initial_end) {
  Object metadata{{"resourceVersion", std::to_string(revision)}};
  if (initial_end) {
    metadata.Set("annotations", Object{{"k8s.io/initial-events-end", "true"}});
  }
  return metadata;
}

bool IsProto(const Form& form) { return form.media == Media::kProtobuf; }

/// The object, or a PartialObjectMetadata, which has only its metadata as field 1.
std::string ProtoMessage(const Form& form, const Value& canonical) {
  if (form.transform == Transform::kNone) {
    return codec::EncodeProto(canonical, *form.served.Kind().message);
  }
  const Value* metadata = canonical.Find("metadata");
  std::string message;
  codec::AppendProtoField(
      message, 1, codec::EncodeProto(metadata == nullptr ? Object() : *metadata, api::kObjectMeta));
  return message;
}

std::string ProtoObject(const Form& form, const Value& canonical) {
  if (form.transform == Transform::kNone) {
    return codec::EncodeEnvelope(canonical, form.served.Kind());
  }
  return codec::WrapEnvelope(MetaVersion(form), "PartialObjectMetadata",
                             ProtoMessage(form, canonical));
}

/// Where a list has its metadata and its items, which are written in the order of their numbers.
struct ListNumbers {
  uint32_t metadata = 1;
  uint32_t items = 2;
};
ListNumbers NumbersOf(const Form& form) {
  const bool old = form.transform != Transform::kNone && form.transform_version == "v1beta1";
  return old ? ListNumbers{.metadata = 2, .items = 1} : ListNumbers{};
}

std::string ProtoListMeta(const Form& form, const ListMeta& meta) {
  std::string field;
  codec::AppendProtoField(field, NumbersOf(form).metadata,
                          codec::EncodeProto(MetaDocument(meta), api::kListMeta));
  return field;
}

std::string ProtoListHead(const Form& form, const ListMeta& meta, size_t items_bytes) {
  const auto [kind, version] = ListIdentity(form);
  const std::string metadata = ProtoListMeta(form, meta);
  std::string head =
      codec::EnvelopeHead({.api_version = version, .kind = kind}, metadata.size() + items_bytes);
  if (NumbersOf(form).metadata == 1) head += metadata;
  return head;
}

std::string ProtoListTail(const Form& form, const ListMeta& meta) {
  std::string tail = NumbersOf(form).metadata == 1 ? "" : ProtoListMeta(form, meta);
  return tail.append(codec::kEnvelopeTail);
}

}  // namespace

uint32_t Form::Id() const {
  uint32_t id = served.IsStoredForm() ? 0 : 1;
  id = id << 2 | static_cast<uint32_t>(media);
  id = id << 2 | static_cast<uint32_t>(transform);
  id = id << 2 | static_cast<uint32_t>(include);
  return id << 2 | (transform_version == "v1" ? 0U : 1U) << 1 | (pretty ? 1U : 0U);
}

std::string_view ContentType(const Form& form) { return MediaName(form.media); }

std::string_view WatchContentType(const Form& form) {
  return IsProto(form) ? "application/vnd.kubernetes.protobuf;stream=watch" : ContentType(form);
}

std::string RenderDocument(const Form& form, const Value& document) {
  if (IsProto(form)) return RenderStatus(document, form.media, false);
  if (form.media == Media::kYaml) return codec::WriteYaml(document);
  return codec::WriteJson(document, {.indent = form.pretty ? 2 : 0}) + "\n";
}

base::Result<Value> ViewDocument(const Form& form, const state::Object& object, int64_t revision) {
  return codec::ToDocument(Canonical(form, object, revision), *form.served.Kind().message,
                           IdentityOf(form));
}

std::string RenderObject(const Form& form, const state::Object& object, int64_t revision,
                         base::WallTime now) {
  if (form.IsPlain()) {
    std::string out;
    out.reserve(object.JsonSize() + 1);
    object.AppendJson(out, revision);
    out.push_back('\n');
    return out;
  }
  if (IsProto(form)) return ProtoObject(form, Canonical(form, object, revision));
  return RenderDocument(form, TransformedDocument(form, object, revision, true, now));
}

std::string ListHead(const Form& form, const ListMeta& meta, size_t items_bytes) {
  if (IsProto(form)) return ProtoListHead(form, meta, items_bytes);
  if (form.transform == Transform::kTable) {
    return fmt::format(
        "{{\"kind\":\"Table\",\"apiVersion\":\"{}\",\"metadata\":{},"
        "\"columnDefinitions\":{},\"rows\":[",
        MetaVersion(form), codec::WriteJson(MetaDocument(meta)),
        codec::WriteJson(ColumnDefinitions(form)));
  }
  const auto [kind, version] = ListIdentity(form);
  return fmt::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[", kind,
                     version, codec::WriteJson(MetaDocument(meta)));
}

void AppendItem(const Form& form, const state::Object& object, base::WallTime now,
                std::string& out) {
  if (form.IsPlain()) return object.AppendListItem(out);
  const Value canonical = Canonical(form, object, object.Revision());
  if (IsProto(form)) {
    codec::AppendProtoField(out, NumbersOf(form).items, ProtoMessage(form, canonical));
  } else if (form.transform == Transform::kTable) {
    out += codec::WriteJson(Row(form, canonical, now));
  } else if (form.transform != Transform::kNone) {
    out += codec::WriteJson(Partial(form, canonical));
  } else {
    out += codec::EncodeMessage(canonical, *form.served.Kind().message);
  }
}

std::string_view ListSeparator(const Form& form) { return IsProto(form) ? "" : ","; }

std::string ListTail(const Form& form, const ListMeta& meta) {
  return IsProto(form) ? ProtoListTail(form, meta) : "]}\n";
}

size_t ItemsBytes(const Form& form, std::span<const state::ObjectPtr> objects, base::WallTime now) {
  size_t bytes = 0;
  std::string item;
  for (const state::ObjectPtr& object : objects) {
    item.clear();
    AppendItem(form, *object, now, item);
    bytes += item.size();
  }
  return bytes;
}

std::string RenderList(const Form& form, const ListMeta& meta,
                       std::span<const state::ObjectPtr> objects, base::WallTime now) {
  if (IsProto(form)) {
    std::string items;
    for (const state::ObjectPtr& object : objects) AppendItem(form, *object, now, items);
    std::string list = ListHead(form, meta, items.size());
    return list.append(items).append(ListTail(form, meta));
  }
  Array items;
  for (const state::ObjectPtr& object : objects) {
    const Value canonical = Canonical(form, *object, object->Revision());
    if (form.transform == Transform::kTable) {
      items.push_back(Row(form, canonical, now));
    } else if (form.transform != Transform::kNone) {
      items.push_back(Partial(form, canonical));
    } else {
      items.push_back(codec::ToDocument(canonical, *form.served.Kind().message));
    }
  }
  if (form.transform == Transform::kTable) {
    return RenderDocument(form, Table(form, meta, true, std::move(items)));
  }
  const auto [kind, version] = ListIdentity(form);
  return RenderDocument(form, Object{{"kind", kind},
                                     {"apiVersion", version},
                                     {"metadata", MetaDocument(meta)},
                                     {"items", std::move(items)}});
}

std::string RenderEvent(const Form& form, std::string_view type, const state::Object& object,
                        int64_t revision, bool first, base::WallTime now) {
  if (IsProto(form)) {
    return codec::WatchFrame(type, ProtoObject(form, Canonical(form, object, revision)));
  }
  std::string out = fmt::format("{{\"type\":\"{}\",\"object\":", type);
  if (form.IsPlain()) {
    object.AppendJson(out, revision);
  } else {
    out += codec::WriteJson(TransformedDocument(form, object, revision, first, now));
  }
  return out + "}\n";
}

std::string RenderBookmark(const Form& form, int64_t revision, bool initial_end) {
  const Object metadata = BookmarkMetadata(revision, initial_end);
  if (IsProto(form)) {
    return codec::WatchFrame("BOOKMARK", ProtoObject(form, Object{{"metadata", metadata}}));
  }
  Value object;
  if (form.transform == Transform::kTable) {
    object = Table(form, {.revision = revision}, false, {});
    // The annotation has its place in the object that the row carries.
    if (initial_end) {
      object.Set("rows", Array{Object{{"cells", Array()},
                                      {"object", Object{{"kind", "PartialObjectMetadata"},
                                                        {"apiVersion", MetaVersion(form)},
                                                        {"metadata", metadata}}}}});
    }
  } else if (form.transform != Transform::kNone) {
    object = Object{{"kind", "PartialObjectMetadata"},
                    {"apiVersion", MetaVersion(form)},
                    {"metadata", metadata}};
  } else {
    object = codec::ToDocument(Object{{"metadata", metadata}}, *form.served.Kind().message,
                               IdentityOf(form));
  }
  return fmt::format("{{\"type\":\"BOOKMARK\",\"object\":{}}}\n", codec::WriteJson(object));
}

std::string RenderErrorEvent(const Form& form, const base::Error& error) {
  const Value status = FailureStatus(error);
  if (IsProto(form)) {
    return codec::WatchFrame("ERROR", RenderStatus(status, form.media, false));
  }
  return fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", codec::WriteJson(status));
}

}  // namespace berth::server
