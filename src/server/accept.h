// Content negotiation: matches the Accept header with the formats that this server writes. Pure.
//
// As in Kubernetes there are two stages with two messages. The first looks at the media types only.
// The second looks at the parameters: `as`, `g` and `v`, which ask for Tables or for bare metadata,
// and `stream`. A clause that asks for something unknown is skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace berth::server {

inline constexpr const char* kJsonType = "application/json";

enum class Media : uint8_t { kJson, kYaml, kProtobuf };
enum class Transform : uint8_t { kNone, kTable, kPartial, kPartialList };

struct Accepted {
  Media media = Media::kJson;
  Transform transform = Transform::kNone;
  std::string_view transform_version = {};  // "v1" or "v1beta1".
  bool pretty = false;
};

/// The formats that an endpoint can write, besides JSON and YAML.
struct Offer {
  bool protobuf = true;  // For its objects. Bare metadata is always available in protobuf.
  bool tables = true;    // Tables (not in protobuf) and bare metadata.
};

/// Returns the format of the first acceptable clause. An empty header means JSON.
base::Result<Accepted> Negotiate(std::string_view accept, const Offer& offer);

/// Negotiates the format of failures and discovery, which are never a Table or bare metadata.
/// Returns nullopt if the client accepts no format of ours. (It is sent a failure all the same.)
std::optional<Accepted> NegotiatePlain(std::string_view accept);

/// Returns the media type that a body's Content-Type names; an empty one means JSON. The endpoint
/// reads the formats that it can write.
base::Result<Media> BodyMedia(std::string_view content_type, const Offer& offer = {});

std::string_view MediaName(Media media);

/// Returns whether the first acceptable clause asks for aggregated discovery (apidiscovery v2).
bool WantsAggregatedDiscovery(std::string_view accept);

}  // namespace berth::server
