#include "server/openapi_schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "api/meta.h"
#include "codec/json.h"
#include "server/route.h"

namespace berth::server {
namespace {

using api::Field;
using api::Message;
using codec::Array;
using codec::Object;
using codec::Value;

constexpr std::string_view kKindExtension = "x-kubernetes-group-version-kind";

/// A type that has its own schema although it is not a message.
struct NamedType {
  api::Type type;
  std::string_view name;
  std::string_view json_type;
  std::string_view format;
  std::string_view description;
};
constexpr NamedType kNamedTypes[] = {
    {api::Type::kTime, "io.k8s.apimachinery.pkg.apis.meta.v1.Time", "string", "date-time",
     "A point in time in RFC 3339 format, with a precision of seconds."},
    {api::Type::kMicroTime, "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime", "string", "date-time",
     "A point in time in RFC 3339 format, with a precision of microseconds."},
    {api::Type::kIntOrString, "io.k8s.apimachinery.pkg.util.intstr.IntOrString", "string",
     "int-or-string", "A number, or a name for one."},
    {api::Type::kQuantity, "io.k8s.apimachinery.pkg.api.resource.Quantity", "string", "",
     "An amount: a number with a unit, such as 500m (thousandths), 2k (thousands) or 1Gi (2^30). "
     "It "
     "is kept in its shortest form."},
    {api::Type::kFieldsV1, "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1", "object", "",
     "A set of fields as a tree. f:name is a field, k:{...} is a list entry with these keys, "
     "v:value is a list entry with this value, and a dot is the field or entry itself."},
};

const NamedType* FindNamedType(api::Type type) {
  const auto* found =
      std::find_if(std::begin(kNamedTypes), std::end(kNamedTypes),
                   [type](const NamedType& candidate) { return candidate.type == type; });
  return found == std::end(kNamedTypes) ? nullptr : found;
}

Value NamedTypeSchema(const NamedType& type, OpenApiVersion version) {
  Object schema{{"description", type.description}};
  if (type.type == api::Type::kIntOrString && version == OpenApiVersion::kV3) {
    schema.Set("oneOf", Array{Object{{"type", "integer"}}, Object{{"type", "string"}}});
  } else if (type.type == api::Type::kQuantity && version == OpenApiVersion::kV3) {
    schema.Set("oneOf", Array{Object{{"type", "string"}}, Object{{"type", "number"}}});
  } else {
    schema.Set("type", type.json_type);
  }
  if (!type.format.empty()) schema.Set("format", type.format);
  return schema;
}

/// Returns the schema of one value of a field, which is an item if the field is a list.
Object ItemSchema(const Field& field, OpenApiVersion version) {
  if (field.message != nullptr) {
    return {{"$ref", *SchemaRef(field.message->openapi_name, version).Find("$ref")}};
  }
  if (const NamedType* named = FindNamedType(field.type)) {
    return {{"$ref", *SchemaRef(named->name, version).Find("$ref")}};
  }
  switch (field.type) {
    case api::Type::kBool:
      return {{"type", "boolean"}};
    case api::Type::kInt32:
      return {{"type", "integer"}, {"format", "int32"}};
    case api::Type::kInt64:
      return {{"type", "integer"}, {"format", "int64"}};
    default:
      return {{"type", "string"}};
  }
}

/// Adds how entries of a list are owned, for server-side apply.
void AddListKind(const Field& field, Object& schema) {
  switch (field.list_kind) {
    case api::ListKind::kAtomic:
      schema.Set("x-kubernetes-list-type", "atomic");
      return;
    case api::ListKind::kSet:
      schema.Set("x-kubernetes-list-type", "set");
      return;
    case api::ListKind::kMap:
      schema.Set("x-kubernetes-list-type", "map");
      Array keys;
      for (const api::ListKey& key : field.list_keys) keys.emplace_back(key.name);
      schema.Set("x-kubernetes-list-map-keys", std::move(keys));
      return;
  }
}

Value FieldSchema(const Field& field, OpenApiVersion version) {
  Object beside;  // Members that must not stand beside a reference in v3.
  if (!field.description.empty()) beside.Set("description", field.description);
  if (!field.default_text.empty()) {
    if (base::Result<Value> value = codec::ParseJson(field.default_text)) {
      beside.Set("default", std::move(*value));
    }
  }
  if (field.atomic) beside.Set("x-kubernetes-map-type", "atomic");
  if (!field.patch_merge_key.empty()) {
    beside.Set("x-kubernetes-patch-merge-key", field.patch_merge_key);
  }
  if (!field.patch_strategy.empty()) {
    beside.Set("x-kubernetes-patch-strategy", field.patch_strategy);
  }

  Object schema = ItemSchema(field, version);
  if (field.shape == api::Shape::kList) {
    schema = {{"type", "array"}, {"items", std::move(schema)}};
    AddListKind(field, schema);
  } else if (field.shape == api::Shape::kMap) {
    schema = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
  } else if (version == OpenApiVersion::kV3 && schema.Find("$ref") != nullptr && !beside.empty()) {
    schema = {{"allOf", Array{std::move(schema)}}};
  }
  for (const codec::Member& member : beside) schema.Set(member.key, member.value);
  return schema;
}

/// Returns the two members that every object has besides those of its message.
Object IdentityProperties() {
  return {{"apiVersion", Object{{"type", "string"},
                                {"description",
                                 "Group and version of the kind, such as v1 or "
                                 "networking.k8s.io/v1."}}},
          {"kind",
           Object{{"type", "string"}, {"description", "Kind of the object, such as Service."}}}};
}

/// Returns the schema of a message. `kinds` is its x-kubernetes-group-version-kind, and empty for a
/// message that is only a part of objects.
Value MessageSchema(const Message& message, Array kinds, OpenApiVersion version) {
  Object properties = kinds.empty() ? Object() : IdentityProperties();
  Array required;
  for (const Field& field : message.fields) {
    properties.Set(std::string(field.name), FieldSchema(field, version));
    if (field.required) required.emplace_back(field.name);
  }
  Object schema{{"description", message.description},
                {"type", "object"},
                {"properties", std::move(properties)}};
  if (!required.empty()) schema.Set("required", std::move(required));
  if (message.atomic) schema.Set("x-kubernetes-map-type", "atomic");
  if (!kinds.empty()) schema.Set(std::string(kKindExtension), std::move(kinds));
  return schema;
}

Value ListSchema(const api::Kind& kind, OpenApiVersion version) {
  const Field items{.name = "items",
                    .type = api::Type::kMessage,
                    .shape = api::Shape::kList,
                    .message = kind.message,
                    .required = true,
                    .description = "The objects, sorted by name."};
  const Field metadata{.name = "metadata",
                       .type = api::Type::kMessage,
                       .message = &api::kListMeta,
                       .description = "The version of the list, and the token for its next part."};
  const Field fields[] = {metadata, items};
  const std::string description = "A list of objects of kind " + std::string(kind.kind) + ".";
  Value schema =
      MessageSchema({.openapi_name = {}, .description = description, .fields = fields},
                    Array{GroupVersionKind(kind.group, kind.version, kind.list_kind)}, version);
  // Lists are only answers and never merged.
  schema.Find("properties")->Find("items")->AsObject()->Erase("x-kubernetes-list-type");
  return schema;
}

/// Returns the kind `kind` once in every group and version.
Array InEveryGroup(std::span<const api::Kind* const> served, std::string_view kind) {
  std::set<std::pair<std::string_view, std::string_view>> versions{{"", "v1"}};
  for (const api::Kind* one : served) versions.emplace(one->group, one->version);
  Array all;
  for (const auto& [group, version] : versions) {
    all.emplace_back(GroupVersionKind(group, version, kind));
  }
  return all;
}

class SchemaSet {
 public:
  explicit SchemaSet(OpenApiVersion version) : version_(version) {}

  /// Adds a message and all messages that it refers to.
  void Add(const Message& message, Array kinds = {}) {
    Add(std::string(message.openapi_name), MessageSchema(message, std::move(kinds), version_));
    for (const Field& field : message.fields) {
      if (const NamedType* named = FindNamedType(field.type)) {
        Add(std::string(named->name), NamedTypeSchema(*named, version_));
      }
      if (field.message != nullptr && !schemas_.contains(field.message->openapi_name)) {
        Add(*field.message);
      }
    }
  }

  void Add(std::string name, Value schema) {
    schemas_.insert_or_assign(std::move(name), std::move(schema));
  }

  Object Take() && {
    Object all;
    all.Reserve(schemas_.size());
    for (auto& [name, schema] : schemas_) all.Set(name, std::move(schema));
    return all;
  }

 private:
  OpenApiVersion version_;
  std::map<std::string, Value, std::less<>> schemas_;
};

}  // namespace

Value SchemaRef(std::string_view name, OpenApiVersion version) {
  return Object{
      {"$ref", (version == OpenApiVersion::kV2 ? "#/definitions/" : "#/components/schemas/") +
                   std::string(name)}};
}

std::string ListSchemaName(const api::Kind& kind) {
  const std::string_view name = kind.message->openapi_name;
  return std::string(name.substr(0, name.rfind('.') + 1)) + std::string(kind.list_kind);
}

Object GroupVersionKind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"kind", kind}, {"version", version}};
}

Object Schemas(std::span<const api::Kind* const> kinds, std::span<const api::Kind* const> served,
               OpenApiVersion version) {
  SchemaSet set(version);
  for (const api::Kind* kind : kinds) {
    set.Add(*kind->message, Array{GroupVersionKind(kind->group, kind->version, kind->kind)});
    if (HasVerb(*kind, "list")) set.Add(ListSchemaName(*kind), ListSchema(*kind, version));
  }
  set.Add(api::kDeleteOptions, InEveryGroup(served, "DeleteOptions"));
  set.Add(api::kStatus, Array{GroupVersionKind("", "v1", "Status")});
  return std::move(set).Take();
}

}  // namespace berth::server
