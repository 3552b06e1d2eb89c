// The kinds of the API: their names, and the message that describes them. What creating or changing
// one means is said elsewhere. Constants; see schema.h.
#pragma once

#include <span>
#include <string_view>

#include "api/schema.h"

namespace berth::api {

struct Kind {
  std::string_view group;  // Empty for the core group.
  std::string_view version;
  std::string_view api_version;  // "v1", "networking.k8s.io/v1"
  std::string_view kind;
  std::string_view list_kind;
  std::string_view plural;
  std::string_view singular;
  std::span<const std::string_view> short_names = {};
  std::span<const std::string_view> categories = {};
  std::span<const std::string_view> verbs = {};
  bool namespaced = true;
  bool has_status = false;    // The subresource of that name.
  bool has_finalize = false;  // Likewise.
  bool has_protobuf = true;   // Otherwise it is stored as JSON.
  const Message* message = nullptr;
};

extern const Kind kNamespaceKind;
extern const Kind kServiceKind;
extern const Kind kEventKind;        // Of the core group, the one that is stored.
extern const Kind kEventsEventKind;  // Of events.k8s.io, another view of the same objects.
extern const Kind kLeaseKind;
extern const Kind kServiceCidrKind;
extern const Kind kIpAddressKind;
extern const Kind kIpRangeKind;
extern const Kind kAllocatedAddressKind;  // IPAddress of allocation.berth.io, another view of them.
extern const Kind kNodePortRangeKind;
extern const Kind kNodePortKind;
extern const Kind kReplicaKind;
extern const Kind kRangeFenceKind;  // Never served.

/// All of the above.
std::span<const Kind* const> AllKinds();

/// Bitmaps, which are stored and never served, nor read as other kinds are: not one of them.
extern const Kind kRangeAllocationKind;

/// Null if there is none.
const Kind* FindKind(std::string_view api_version, std::string_view kind);

}  // namespace berth::api
