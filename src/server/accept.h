// What a client can read: the Accept header against what this server writes. Pure.
//
// As upstream there are two stages with two messages: the media types alone first, then the
// parameters (`as`, `g`, `v`), by which lists are asked for as Tables or as bare metadata. A clause
// that asks for something unknown is passed over.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace berth::server {

enum class Media : uint8_t { kJson, kYaml, kProtobuf };
enum class Transform : uint8_t { kNone, kTable, kPartial, kPartialList };

struct Accepted {
  Media media = Media::kJson;
  Transform transform = Transform::kNone;
  std::string_view transform_version = {};  // "v1" or "v1beta1".
  bool pretty = false;
};

/// What an endpoint can write.
struct Offer {
  bool yaml = true;
  bool protobuf = false;
  bool tables = true;  // Tables and bare metadata.
};

/// An empty header means JSON.
base::Result<Accepted> Negotiate(std::string_view accept, const Offer& offer);

/// The media type of a body, by its Content-Type (empty: JSON).
base::Result<Media> BodyMedia(std::string_view content_type);

std::string_view MediaName(Media media);

/// Whether the first clause that can be met asks for aggregated discovery (apidiscovery v2).
bool WantsAggregatedDiscovery(std::string_view accept);

}  // namespace berth::server
