// The paths of OpenAPI documents: the operations of each path of a kind, and what is the same for
// them in both versions of OpenAPI. Pure functions, safe from any thread.
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

/// A parameter of the path or the query.
struct OpenApiParameter {
  std::string_view name;
  std::string_view type = "string";
  std::string_view description;
  bool in_path = false;
};

struct OpenApiOperation {
  enum class Body : uint8_t { kNone, kObject, kPatch, kDeleteOptions };
  /// kDeleted is a Status, or the object if a delete returns it or does not remove it at once.
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

/// Returns the member `info` of each document.
codec::Object OpenApiInfo();

/// Returns the member `paths`: all paths of the kinds and their subresources that have an
/// operation. `write` writes an operation.
using WriteOperation = codec::Object (*)(const api::Kind& kind, const OpenApiOperation& operation);
codec::Object OpenApiPaths(std::span<const api::Kind* const> kinds, OpenApiVersion version,
                           WriteOperation write);

/// Returns all parameters by name. Operations refer to them.
codec::Object OpenApiParameters(OpenApiVersion version);

/// Returns an operation's member `parameters` without the body, for a WriteOperation.
codec::Array ParametersOf(const OpenApiOperation& operation, OpenApiVersion version);

/// Returns a tag such as "core_v1", by which client generators group operations.
std::string OpenApiTag(const api::Kind& kind);

/// Returns "OK" for "200".
std::string_view CodeDescription(std::string_view code);

/// Return the media types of patches and of answers.
std::span<const std::string_view> PatchMediaTypes();
std::span<const std::string_view> AnswerMediaTypes();

}  // namespace berth::server
