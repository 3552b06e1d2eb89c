// OpenAPI schemas of the API's messages, made from their descriptors. Pure functions, safe from any
// thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "codec/value.h"

namespace berth::server {

/// The two versions differ in three ways: where schemas are, what may stand beside a reference (in
/// v3 nothing, so the reference is wrapped), and how to write "a number or a string".
enum class OpenApiVersion : uint8_t { kV2, kV3 };

/// {"$ref": "#/components/schemas/<name>"}
codec::Value SchemaRef(std::string_view name, OpenApiVersion version);

/// "io.k8s.api.core.v1.ServiceList"
std::string ListSchemaName(const api::Kind& kind);

/// {"group": "", "kind": "Service", "version": "v1"}
codec::Object GroupVersionKind(std::string_view group, std::string_view version,
                               std::string_view kind);

/// Returns schemas in the order of their names: the messages of `kinds`, their lists, DeleteOptions
/// and Status, and all messages that any of these refer to. `served` are all kinds of the server: a
/// DeleteOptions may belong to the group of any of them.
codec::Object Schemas(std::span<const api::Kind* const> kinds,
                      std::span<const api::Kind* const> served, OpenApiVersion version);

}  // namespace berth::server
