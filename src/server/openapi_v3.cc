#include "server/openapi_v3.h"

#include <utility>
#include <vector>

#include "api/meta.h"
#include "codec/json.h"
#include "codec/value.h"
#include "server/accept.h"
#include "server/openapi_paths.h"
#include "server/openapi_schema.h"

namespace berth::server {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;
using Body = OpenApiOperation::Body;
using Answer = OpenApiOperation::Answer;

constexpr auto kV3 = OpenApiVersion::kV3;

/// Returns the same schema for each media type.
Object Content(std::span<const std::string_view> types, const Value& schema) {
  Object content;
  for (const std::string_view type : types) {
    content.Set(std::string(type), Object{{"schema", schema}});
  }
  return content;
}

Value AnswerSchemaV3(const api::Kind& kind, Answer answer) {
  Value object = SchemaRef(kind.message->openapi_name, kV3);
  Value status = SchemaRef(api::kStatus.openapi_name, kV3);
  switch (answer) {
    case Answer::kObject:
      return object;
    case Answer::kList:
      return SchemaRef(ListSchemaName(kind), kV3);
    case Answer::kStatus:
      return status;
    case Answer::kDeleted:
      break;
  }
  return Object{{"oneOf", Array{std::move(status), std::move(object)}}};
}

Value RequestBody(const api::Kind& kind, Body body) {
  static constexpr std::string_view kAny[] = {"*/*"};
  if (body == Body::kPatch) {
    return Object{{"required", true}, {"content", Content(PatchMediaTypes(), Object())}};
  }
  if (body == Body::kDeleteOptions) {
    return Object{{"content", Content(kAny, SchemaRef(api::kDeleteOptions.openapi_name, kV3))}};
  }
  return Object{{"required", true},
                {"content", Content(kAny, SchemaRef(kind.message->openapi_name, kV3))}};
}

Object OperationV3(const api::Kind& kind, const OpenApiOperation& operation) {
  Object responses;
  for (const std::string_view code : operation.codes) {
    Object response{{"description", CodeDescription(code)}};
    if (code.front() == '2') {
      response.Set("content", Content(AnswerMediaTypes(), AnswerSchemaV3(kind, operation.answer)));
    }
    responses.Set(std::string(code), std::move(response));
  }
  Object object{{"tags", Array{OpenApiTag(kind)}},
                {"description", operation.description},
                {"operationId", operation.id},
                {"parameters", ParametersOf(operation, kV3)}};
  if (operation.body != Body::kNone) object.Set("requestBody", RequestBody(kind, operation.body));
  object.Set("responses", std::move(responses));
  object.Set("x-kubernetes-action", operation.action);
  object.Set("x-kubernetes-group-version-kind",
             GroupVersionKind(kind.group, kind.version, kind.kind));
  return object;
}

/// Writes the document of one group and version. `kinds` are its kinds, `served` are all kinds.
std::string Write(std::span<const api::Kind* const> kinds,
                  std::span<const api::Kind* const> served) {
  return codec::WriteJson(Object{{"openapi", "3.0.0"},
                                 {"info", OpenApiInfo()},
                                 {"paths", OpenApiPaths(kinds, kV3, OperationV3)},
                                 {"components", Object{{"schemas", Schemas(kinds, served, kV3)},
                                                       {"parameters", OpenApiParameters(kV3)}}}}) +
         "\n";
}

}  // namespace

OpenApiV3::OpenApiV3(std::span<const api::Kind* const> kinds) {
  std::map<std::string, std::vector<const api::Kind*>> versions;
  for (const api::Kind* kind : kinds) {
    versions[(kind->group.empty() ? "api/" : "apis/") + std::string(kind->api_version)].push_back(
        kind);
  }
  Object paths;
  for (const auto& [path, of_version] : versions) {
    documents_[path] = MakeDocument(Write(of_version, kinds), kJsonType, true);
    paths.Set(path, Object{{"serverRelativeURL",
                            "/openapi/v3/" + path + "?hash=" + std::string(Hash(path))}});
  }
  index_ =
      MakeDocument(codec::WriteJson(Object{{"paths", std::move(paths)}}) + "\n", kJsonType, true);
}

const Document* OpenApiV3::Find(std::string_view path) const {
  const auto found = documents_.find(path);
  return found == documents_.end() ? nullptr : &found->second;
}

std::string_view OpenApiV3::Hash(std::string_view path) const {
  const Document* document = Find(path);
  if (document == nullptr) return {};
  std::string_view hash = document->etag;  // In quotes.
  hash.remove_prefix(1);
  hash.remove_suffix(1);
  return hash;
}

}  // namespace berth::server
