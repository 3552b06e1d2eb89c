// Encodes an OpenAPI v2 document as the protobuf message that kubectl reads: openapi.v2.Document,
// as google/gnostic defines it. Pure function, safe from any thread.
#pragma once

#include <string>

#include "codec/value.h"

namespace berth::server {

/// Encodes a document that openapi_v2 made. Fields that such documents do not use are not encoded.
std::string GnosticDocument(const codec::Value& document);

}  // namespace berth::server
