// The kinds of the API: their names, and the messages that describe them. Other modules define what
// it means to create or change one. Constants; see schema.h.
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
  bool has_status = false;    // Has the subresource `status`.
  bool has_finalize = false;  // Has the subresource `finalize`.
  bool has_proxy = false;     // Has the subresource `proxy`, which leads to no node here.
  bool has_protobuf = true;   // If false, it is stored as JSON.
  bool listed = true;         // In discovery and OpenAPI. See kServiceCidrBetaKind.
  const Message* message = nullptr;
  /// The warning that every request for the kind gets, if the kind is deprecated.
  std::string_view deprecation = {};
};

extern const Kind kNamespaceKind;
extern const Kind kServiceKind;
extern const Kind kEventKind;        // Of the core group; this form is stored.
extern const Kind kEventsEventKind;  // Of events.k8s.io; another view of the same objects.
extern const Kind kLeaseKind;
extern const Kind kEndpointsKind;
extern const Kind kEndpointSliceKind;
extern const Kind kNodeKind;
extern const Kind kServiceCidrKind;
extern const Kind kIpAddressKind;
extern const Kind kIpRangeKind;
extern const Kind kAllocatedAddressKind;  // IPAddress of allocation.berth.io, a view.
extern const Kind kNodePortRangeKind;
extern const Kind kNodePortKind;
extern const Kind kReplicaKind;
extern const Kind kRangeFenceKind;  // Never served.

/// Returns all of the above.
std::span<const Kind* const> AllKinds();

/// Views of the kinds of networking.k8s.io/v1 for clients that ask for the old version without
/// looking for it in discovery, as `kubectl describe` does up to 1.32. They can only be read.
/// AllKinds does not contain them, and FindKind does not find them.
extern const Kind kServiceCidrBetaKind;
extern const Kind kIpAddressBetaKind;

/// Bitmaps, which are stored but never served. They are not decoded like other kinds, so
/// AllKinds does not contain them.
extern const Kind kRangeAllocationKind;

/// Returns null if there is no such kind.
const Kind* FindKind(std::string_view api_version, std::string_view kind);

}  // namespace berth::api
