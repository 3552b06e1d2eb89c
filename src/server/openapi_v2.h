// OpenAPI v2: one document for all kinds, as JSON and as protobuf. kubectl up to 1.26 reads the
// protobuf message, and cannot create, apply or explain without it. Made once from the kinds;
// immutable afterwards, so any thread may read it.
#pragma once

#include <span>
#include <string_view>

#include "api/kinds.h"
#include "server/discovery.h"

namespace berth::server {

/// The media types by which clients ask for protobuf. Every kubectl sends the first. But a media
/// type must not contain "@", and a Go client refuses an answer of that type. So answers have the
/// second type, as does OpenApiV2::Protobuf().
inline constexpr std::string_view kOpenApiV2ProtobufAsked =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
inline constexpr std::string_view kOpenApiV2Protobuf =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

class OpenApiV2 {
 public:
  explicit OpenApiV2(std::span<const api::Kind* const> kinds);

  const Document& Json() const { return json_; }
  const Document& Protobuf() const { return protobuf_; }

 private:
  Document json_;
  Document protobuf_;
};

}  // namespace berth::server
