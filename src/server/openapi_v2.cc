#include "server/openapi_v2.h"

#include <string>
#include <utility>
#include <vector>

#include "api/meta.h"
#include "codec/json.h"
#include "codec/value.h"
#include "server/accept.h"
#include "server/openapi_gnostic.h"
#include "server/openapi_paths.h"
#include "server/openapi_schema.h"

namespace berth::server {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;
using Body = OpenApiOperation::Body;
using Answer = OpenApiOperation::Answer;

constexpr auto kV2 = OpenApiVersion::kV2;

Object BodyParameter(const api::Kind& kind, Body body) {
  Object object{{"name", "body"}, {"in", "body"}};
  if (body != Body::kDeleteOptions) object.Set("required", true);
  switch (body) {
    case Body::kPatch:
      object.Set("schema", Object{{"type", "object"}});
      break;
    case Body::kDeleteOptions:
      object.Set("schema", SchemaRef(api::kDeleteOptions.openapi_name, kV2));
      break;
    default:
      object.Set("schema", SchemaRef(kind.message->openapi_name, kV2));
  }
  return object;
}

Value AnswerSchemaV2(const api::Kind& kind, Answer answer) {
  switch (answer) {
    case Answer::kObject:
      return SchemaRef(kind.message->openapi_name, kV2);
    case Answer::kList:
      return SchemaRef(ListSchemaName(kind), kV2);
    default:  // v2 cannot express "one or the other".
      return SchemaRef(api::kStatus.openapi_name, kV2);
  }
}

Array Texts(std::span<const std::string_view> texts) {
  Array array;
  for (const std::string_view text : texts) array.emplace_back(text);
  return array;
}

Object OperationV2(const api::Kind& kind, const OpenApiOperation& operation) {
  static constexpr std::string_view kAny[] = {"*/*"};
  Object responses;
  for (const std::string_view code : operation.codes) {
    Object response{{"description", CodeDescription(code)}};
    if (code.front() == '2') response.Set("schema", AnswerSchemaV2(kind, operation.answer));
    responses.Set(std::string(code), std::move(response));
  }
  Array parameters = ParametersOf(operation, kV2);
  if (operation.body != Body::kNone) parameters.emplace_back(BodyParameter(kind, operation.body));
  return {
      {"tags", Array{OpenApiTag(kind)}},
      {"description", operation.description},
      {"operationId", operation.id},
      {"produces", Texts(AnswerMediaTypes())},
      {"consumes", Texts(operation.body == Body::kPatch ? PatchMediaTypes() : kAny)},
      {"parameters", std::move(parameters)},
      {"responses", std::move(responses)},
      {"x-kubernetes-action", operation.action},
      {"x-kubernetes-group-version-kind", GroupVersionKind(kind.group, kind.version, kind.kind)}};
}

Value WholeDocument(std::span<const api::Kind* const> kinds) {
  return Object{{"swagger", "2.0"},
                {"info", OpenApiInfo()},
                {"paths", OpenApiPaths(kinds, kV2, OperationV2)},
                {"definitions", Schemas(kinds, kinds, kV2)},
                {"parameters", OpenApiParameters(kV2)}};
}

}  // namespace

OpenApiV2::OpenApiV2(std::span<const api::Kind* const> kinds) {
  const Value document = WholeDocument(kinds);
  json_ = MakeDocument(codec::WriteJson(document) + "\n", kJsonType, true);
  protobuf_ = MakeDocument(GnosticDocument(document), std::string(kOpenApiV2Protobuf), true);
}

}  // namespace berth::server
