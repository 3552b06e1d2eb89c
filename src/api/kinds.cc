#include "api/kinds.h"

#include <array>

#include "api/core.h"

namespace berth::api {
namespace {

constexpr auto kAllVerbs = std::to_array<std::string_view>(
    {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"});
constexpr auto kNamespaceVerbs = std::to_array<std::string_view>(
    {"create", "delete", "get", "list", "patch", "update", "watch"});
constexpr auto kVerbsWithoutUpdate = std::to_array<std::string_view>(
    {"create", "delete", "deletecollection", "get", "list", "patch", "watch"});
constexpr auto kReadVerbs = std::to_array<std::string_view>({"get", "list", "watch"});

constexpr auto kCategoryAll = std::to_array<std::string_view>({"all"});
constexpr auto kNs = std::to_array<std::string_view>({"ns"});
constexpr auto kSvc = std::to_array<std::string_view>({"svc"});
constexpr auto kEp = std::to_array<std::string_view>({"ep"});
constexpr auto kNo = std::to_array<std::string_view>({"no"});
constexpr auto kEv = std::to_array<std::string_view>({"ev"});
constexpr auto kIp = std::to_array<std::string_view>({"ip"});
constexpr auto kIpr = std::to_array<std::string_view>({"ipr"});
constexpr auto kNpr = std::to_array<std::string_view>({"npr"});
constexpr auto kNp = std::to_array<std::string_view>({"np"});

}  // namespace

constexpr Kind kNamespaceKind{.group = "",
                              .version = "v1",
                              .api_version = "v1",
                              .kind = "Namespace",
                              .list_kind = "NamespaceList",
                              .plural = "namespaces",
                              .singular = "namespace",
                              .short_names = kNs,
                              .verbs = kNamespaceVerbs,
                              .namespaced = false,
                              .has_status = true,
                              .has_finalize = true,
                              .message = &kNamespace};

constexpr Kind kServiceKind{.group = "",
                            .version = "v1",
                            .api_version = "v1",
                            .kind = "Service",
                            .list_kind = "ServiceList",
                            .plural = "services",
                            .singular = "service",
                            .short_names = kSvc,
                            .categories = kCategoryAll,
                            .verbs = kAllVerbs,
                            .has_status = true,
                            .message = &kService};

constexpr Kind kEventKind{.group = "",
                          .version = "v1",
                          .api_version = "v1",
                          .kind = "Event",
                          .list_kind = "EventList",
                          .plural = "events",
                          .singular = "event",
                          .short_names = kEv,
                          .verbs = kAllVerbs,
                          .message = &kEvent};

constexpr Kind kEventsEventKind{.group = "events.k8s.io",
                                .version = "v1",
                                .api_version = "events.k8s.io/v1",
                                .kind = "Event",
                                .list_kind = "EventList",
                                .plural = "events",
                                .singular = "event",
                                .short_names = kEv,
                                .verbs = kAllVerbs,
                                .message = &kEventsEvent};

constexpr Kind kLeaseKind{.group = "coordination.k8s.io",
                          .version = "v1",
                          .api_version = "coordination.k8s.io/v1",
                          .kind = "Lease",
                          .list_kind = "LeaseList",
                          .plural = "leases",
                          .singular = "lease",
                          .verbs = kAllVerbs,
                          .message = &kLease};

constexpr Kind kEndpointsKind{
    .group = "",
    .version = "v1",
    .api_version = "v1",
    .kind = "Endpoints",
    .list_kind = "EndpointsList",
    .plural = "endpoints",
    .singular = "endpoints",
    .short_names = kEp,
    .verbs = kAllVerbs,
    .message = &kEndpoints,
    .deprecation = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"};

constexpr Kind kEndpointSliceKind{.group = "discovery.k8s.io",
                                  .version = "v1",
                                  .api_version = "discovery.k8s.io/v1",
                                  .kind = "EndpointSlice",
                                  .list_kind = "EndpointSliceList",
                                  .plural = "endpointslices",
                                  .singular = "endpointslice",
                                  .verbs = kAllVerbs,
                                  .message = &kEndpointSlice};

constexpr Kind kNodeKind{.group = "",
                         .version = "v1",
                         .api_version = "v1",
                         .kind = "Node",
                         .list_kind = "NodeList",
                         .plural = "nodes",
                         .singular = "node",
                         .short_names = kNo,
                         .verbs = kAllVerbs,
                         .namespaced = false,
                         .has_status = true,
                         .has_proxy = true,
                         .message = &kNode};

constexpr Kind kServiceCidrKind{.group = "networking.k8s.io",
                                .version = "v1",
                                .api_version = "networking.k8s.io/v1",
                                .kind = "ServiceCIDR",
                                .list_kind = "ServiceCIDRList",
                                .plural = "servicecidrs",
                                .singular = "servicecidr",
                                .verbs = kAllVerbs,
                                .namespaced = false,
                                .has_status = true,
                                .message = &kServiceCidr};

constexpr Kind kIpAddressKind{.group = "networking.k8s.io",
                              .version = "v1",
                              .api_version = "networking.k8s.io/v1",
                              .kind = "IPAddress",
                              .list_kind = "IPAddressList",
                              .plural = "ipaddresses",
                              .singular = "ipaddress",
                              .short_names = kIp,
                              .verbs = kAllVerbs,
                              .namespaced = false,
                              .message = &kIpAddress};

constexpr Kind kServiceCidrBetaKind{
    .group = "networking.k8s.io",
    .version = "v1beta1",
    .api_version = "networking.k8s.io/v1beta1",
    .kind = "ServiceCIDR",
    .list_kind = "ServiceCIDRList",
    .plural = "servicecidrs",
    .singular = "servicecidr",
    .verbs = kReadVerbs,
    .namespaced = false,
    .listed = false,
    .message = &kServiceCidr,
    .deprecation =
        "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+"};

constexpr Kind kIpAddressBetaKind{
    .group = "networking.k8s.io",
    .version = "v1beta1",
    .api_version = "networking.k8s.io/v1beta1",
    .kind = "IPAddress",
    .list_kind = "IPAddressList",
    .plural = "ipaddresses",
    .singular = "ipaddress",
    .verbs = kReadVerbs,
    .namespaced = false,
    .listed = false,
    .message = &kIpAddress,
    .deprecation =
        "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+"};

constexpr Kind kIpRangeKind{.group = "allocation.berth.io",
                            .version = "v1alpha1",
                            .api_version = "allocation.berth.io/v1alpha1",
                            .kind = "IPRange",
                            .list_kind = "IPRangeList",
                            .plural = "ipranges",
                            .singular = "iprange",
                            .short_names = kIpr,
                            .verbs = kAllVerbs,
                            .namespaced = false,
                            .has_status = true,
                            .has_protobuf = false,
                            .message = &kIpRange};

constexpr Kind kAllocatedAddressKind{.group = "allocation.berth.io",
                                     .version = "v1alpha1",
                                     .api_version = "allocation.berth.io/v1alpha1",
                                     .kind = "IPAddress",
                                     .list_kind = "IPAddressList",
                                     .plural = "ipaddresses",
                                     .singular = "ipaddress",
                                     .verbs = kVerbsWithoutUpdate,
                                     .namespaced = false,
                                     .has_protobuf = false,
                                     .message = &kAllocatedAddress};

constexpr Kind kNodePortRangeKind{.group = "allocation.berth.io",
                                  .version = "v1alpha1",
                                  .api_version = "allocation.berth.io/v1alpha1",
                                  .kind = "NodePortRange",
                                  .list_kind = "NodePortRangeList",
                                  .plural = "nodeportranges",
                                  .singular = "nodeportrange",
                                  .short_names = kNpr,
                                  .verbs = kAllVerbs,
                                  .namespaced = false,
                                  .has_status = true,
                                  .has_protobuf = false,
                                  .message = &kNodePortRange};

constexpr Kind kNodePortKind{.group = "allocation.berth.io",
                             .version = "v1alpha1",
                             .api_version = "allocation.berth.io/v1alpha1",
                             .kind = "NodePort",
                             .list_kind = "NodePortList",
                             .plural = "nodeports",
                             .singular = "nodeport",
                             .short_names = kNp,
                             .verbs = kAllVerbs,
                             .namespaced = false,
                             .has_protobuf = false,
                             .message = &kNodePort};

constexpr Kind kReplicaKind{.group = "allocation.berth.io",
                            .version = "v1alpha1",
                            .api_version = "allocation.berth.io/v1alpha1",
                            .kind = "Replica",
                            .list_kind = "ReplicaList",
                            .plural = "replicas",
                            .singular = "replica",
                            .verbs = kReadVerbs,
                            .namespaced = false,
                            .has_protobuf = false,
                            .message = &kReplica};

constexpr Kind kRangeFenceKind{.group = "allocation.berth.io",
                               .version = "v1alpha1",
                               .api_version = "allocation.berth.io/v1alpha1",
                               .kind = "RangeFence",
                               .list_kind = "RangeFenceList",
                               .plural = "rangefences",
                               .singular = "rangefence",
                               .namespaced = false,
                               .has_protobuf = false,
                               .message = &kRangeFence};

constexpr Kind kRangeAllocationKind{.group = "",
                                    .version = "v1",
                                    .api_version = "v1",
                                    .kind = "RangeAllocation",
                                    .list_kind = "RangeAllocationList",
                                    .plural = "rangeallocations",
                                    .singular = "rangeallocation",
                                    .namespaced = false,
                                    .message = &kRangeAllocation};

namespace {

constexpr auto kKinds = std::to_array<const Kind*>(
    {&kNamespaceKind, &kServiceKind, &kEventKind, &kEventsEventKind, &kLeaseKind, &kEndpointsKind,
     &kEndpointSliceKind, &kNodeKind, &kServiceCidrKind, &kIpAddressKind, &kIpRangeKind,
     &kAllocatedAddressKind, &kNodePortRangeKind, &kNodePortKind, &kReplicaKind, &kRangeFenceKind});

}  // namespace

std::span<const Kind* const> AllKinds() { return kKinds; }

const Kind* FindKind(std::string_view api_version, std::string_view kind) {
  for (const Kind* candidate : kKinds) {
    if (candidate->kind == kind && candidate->api_version == api_version) return candidate;
  }
  return nullptr;
}

}  // namespace berth::api
