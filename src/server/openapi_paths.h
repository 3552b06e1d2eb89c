// The paths of OpenAPI documents: which operations each path of a kind has, and what both versions
// of OpenAPI say about them in the same words. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "codec/value.h"
#include "server/openapi_schema.h"

namespace berth::server {

/// Of the path or the query.
struct OpenApiParameter {
  std::string_view name;
  std::string_view type = "string";
  std::string_view description;
  bool in_path = false;
};

struct OpenApiOperation {
  enum class Body : uint8_t { kNone, kObject, kPatch, kDeleteOptions };
  /// kDeleted: a Status, or the object where it is what a delete returns or does not go at once.
  enum class Answer : uint8_t { kObject, kList, kStatus, kDeleted };

  std::string_view method;  // "get"
  std::string_view action;  // "list": x-kubernetes-action
  std::string id;           // "listCoreV1NamespacedService"
  std::string description;
  std::vector<const OpenApiParameter*> parameters;
  Body body = Body::kNone;
  Answer answer = Answer::kObject;
  std::span<const std::string_view> codes;  // "200", "201"
};

/// What is at the top of each document.
codec::Object OpenApiInfo();

/// The member `paths`: all paths of the kinds and of their subresources that have an operation.
using WriteOperation = codec::Object (*)(const api::Kind& kind, const OpenApiOperation& operation);
codec::Object OpenApiPaths(std::span<const api::Kind* const> kinds, OpenApiVersion version,
                           WriteOperation write);

/// What operations refer to: parameters by name.
codec::Object OpenApiParameters(OpenApiVersion version);

/// For WriteOperation: the operation's member `parameters`, but for the body.
codec::Array ParametersOf(const OpenApiOperation& operation, OpenApiVersion version);

/// "core_v1": what groups operations for generators of clients.
std::string OpenApiTag(const api::Kind& kind);

/// "OK" for "200".
std::string_view CodeDescription(std::string_view code);

/// The media types of each kind of patch, and of an answer.
std::span<const std::string_view> PatchMediaTypes();
std::span<const std::string_view> AnswerMediaTypes();

}  // namespace berth::server
