// Encodes the old format of discovery in protobuf. Pure.
#pragma once

#include <string>

#include "codec/value.h"

namespace berth::server {

/// Encodes the JSON document of an APIVersions, APIGroupList, APIGroup or APIResourceList, with the
/// envelope.
std::string DiscoveryProto(const codec::Value& document);

}  // namespace berth::server
