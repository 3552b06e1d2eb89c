// An OpenAPI v2 document as the protobuf message that kubectl reads: openapi.v2.Document, as
// google/gnostic defines it. Pure function, safe from any thread.
#pragma once

#include <string>

#include "codec/value.h"

namespace berth::server {

/// Of a document as openapi_v2 writes them: what those have no use for is not written.
std::string GnosticDocument(const codec::Value& document);

}  // namespace berth::server
