// The schemas of the API's messages in the words of OpenAPI, from their descriptors. Pure
// functions, safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "codec/value.h"

namespace berth::server {

/// The two versions say three things differently: where schemas are, what may stand beside a
/// reference (in v3 nothing, so it is wrapped), and what is either a number or a string.
enum class OpenApiVersion : uint8_t { kV2, kV3 };

/// {"$ref": "#/components/schemas/<name>"}
codec::Value SchemaRef(std::string_view name, OpenApiVersion version);

/// "io.k8s.api.core.v1.ServiceList"
std::string ListSchemaName(const api::Kind& kind);

bool HasVerb(const api::Kind& kind, std::string_view verb);

/// {"group": "", "kind": "Service", "version": "v1"}
codec::Object GroupVersionKind(std::string_view group, std::string_view version,
                               std::string_view kind);

/// By name, in order: the messages of `kinds`, their lists, what a request and the answer to it may
/// consist of besides (DeleteOptions, Status), and whatever any of these refer to. `served` are all
/// the kinds of the server: a DeleteOptions may come in the name of any of their groups.
codec::Object Schemas(std::span<const api::Kind* const> kinds,
                      std::span<const api::Kind* const> served, OpenApiVersion version);

}  // namespace berth::server
