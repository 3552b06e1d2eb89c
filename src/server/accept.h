// What a client can read: the Accept header against what this server writes. Pure.
//
// As upstream there are two stages with two messages: the media types alone first, then the
// parameters (`as`, `g`, `v`), by which lists are asked for as Tables or as bare metadata, and
// `stream`. A clause that asks for something unknown is passed over.
#pragma once

#include <cstdint>
#include <optional>
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

/// What an endpoint can write, beside JSON and YAML.
struct Offer {
  bool protobuf = true;  // Its objects; bare metadata can always be had in protobuf.
  bool tables = true;    // Tables, which protobuf has not, and bare metadata.
};

/// An empty header means JSON.
base::Result<Accepted> Negotiate(std::string_view accept, const Offer& offer);

/// For what is the same everywhere, failures and discovery, and never a Table or bare metadata.
/// Nothing when the client takes none of it; of a failure it is told all the same.
std::optional<Accepted> NegotiatePlain(std::string_view accept);

/// The media type of a body, by its Content-Type (empty: JSON), for an endpoint that reads what it
/// can write.
base::Result<Media> BodyMedia(std::string_view content_type, const Offer& offer = {});

std::string_view MediaName(Media media);

/// Whether the first clause that can be met asks for aggregated discovery (apidiscovery v2).
bool WantsAggregatedDiscovery(std::string_view accept);

}  // namespace berth::server
