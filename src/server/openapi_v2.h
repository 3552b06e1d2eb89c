// OpenAPI v2: one document for everything that is served, as JSON and as the protobuf message that
// kubectl up to 1.26 reads instead (and cannot create, apply or explain without). Made once from
// the kinds; immutable afterwards, any thread.
#pragma once

#include <span>
#include <string_view>

#include "api/kinds.h"
#include "server/discovery.h"

namespace berth::server {

/// The media types by which clients ask for the protobuf form. The first is what all kubectl send;
/// but "@" may not stand in a media type, and a Go client refuses an answer that says so: answers
/// are of the second, as is the content_type of OpenApiV2::Protobuf().
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
