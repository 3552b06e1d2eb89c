// The old form of discovery in protobuf, from the documents that are its JSON. Pure.
#pragma once

#include <string>

#include "codec/value.h"

namespace berth::server {

/// In its envelope: an APIVersions, APIGroupList, APIGroup or APIResourceList.
std::string DiscoveryProto(const codec::Value& document);

}  // namespace berth::server
