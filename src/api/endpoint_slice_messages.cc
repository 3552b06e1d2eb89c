#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kSliceEndpoint;
extern const Message kEndpointConditions;
extern const Message kEndpointHints;
extern const Message kForZone;
extern const Message kForNode;
extern const Message kSlicePort;

namespace {

constexpr FieldTable kEndpointConditionsFields(std::to_array<Field>({
    {.name = "ready",
     .number = 1,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Whether it takes traffic. Left out, it counts as true."},
    {.name = "serving",
     .number = 2,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Whether it can serve, also while it ends. Left out, it is the same as ready."},
    {.name = "terminating",
     .number = 3,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Whether it is about to end. Left out, it counts as false."},
}));

constexpr FieldTable kForZoneFields(std::to_array<Field>({
    {.name = "name",
     .number = 1,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The name of the zone."},
}));

constexpr FieldTable kForNodeFields(std::to_array<Field>({
    {.name = "name",
     .number = 1,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The name of the node."},
}));

constexpr FieldTable kEndpointHintsFields(std::to_array<Field>({
    {.name = "forZones",
     .number = 1,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kForZone,
     .description = "The zones that should use the endpoint, 8 at most."},
    {.name = "forNodes",
     .number = 2,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kForNode,
     .description = "The nodes that should use the endpoint, 8 at most."},
}));

constexpr FieldTable kSliceEndpointFields(std::to_array<Field>({
    {.name = "addresses",
     .number = 1,
     .shape = Shape::kList,
     .presence = Presence::kAlways,
     .required = true,
     .list_kind = ListKind::kSet,
     .description =
         "Its addresses, of the type that the slice says, from 1 to 100. Clients may use "
         "the first one only."},
    {.name = "conditions",
     .number = 2,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kEndpointConditions,
     .description = "Whether it can be used now."},
    {.name = "hostname",
     .number = 3,
     .presence = Presence::kOmitNil,
     .description = "Its name in DNS, one label."},
    {.name = "targetRef",
     .number = 4,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kObjectReference,
     .description = "The object that provides the endpoint."},
    {.name = "deprecatedTopology",
     .number = 5,
     .shape = Shape::kMap,
     .description = "Topology of the API version v1beta1. It can be read and not written; use zone "
                    "and nodeName."},
    {.name = "nodeName",
     .number = 6,
     .presence = Presence::kOmitNil,
     .description = "The node that hosts the endpoint."},
    {.name = "zone",
     .number = 7,
     .presence = Presence::kOmitNil,
     .description = "The zone that the endpoint is in."},
    {.name = "hints",
     .number = 8,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kEndpointHints,
     .description = "For which clients the endpoint is meant."},
}));

constexpr FieldTable kSlicePortFields(std::to_array<Field>({
    {.name = "name",
     .number = 1,
     .presence = Presence::kOmitNil,
     .description = "The name of the port, a DNS label. Each port of a slice needs another name. "
                    "The default is the empty name."},
    {.name = "protocol",
     .number = 2,
     .presence = Presence::kOmitNil,
     .go_type = "v1.Protocol",
     .description = "TCP (the default), UDP or SCTP."},
    {.name = "port",
     .number = 3,
     .type = Type::kInt32,
     .presence = Presence::kOmitNil,
     .description = "The number of the port. What it means if it is left out depends on the "
                    "client."},
    {.name = "appProtocol",
     .number = 4,
     .presence = Presence::kOmitNil,
     .description =
         "The protocol of the application, as a name of IANA or a qualified name such as "
         "kubernetes.io/h2c."},
}));

constexpr FieldTable kEndpointSliceFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta, kMetadataDescription),
    {.name = "addressType",
     .number = 4,
     .presence = Presence::kAlways,
     .go_type = "v1.AddressType",
     .required = true,
     .description = "The type of all addresses of the slice: IPv4, IPv6 or FQDN (deprecated). "
                    "Cannot be changed."},
    {.name = "endpoints",
     .number = 2,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .presence = Presence::kAlways,
     .message = &kSliceEndpoint,
     .description = "The endpoints, 1000 at most."},
    {.name = "ports",
     .number = 3,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .presence = Presence::kAlways,
     .message = &kSlicePort,
     .description = "The ports of each endpoint, with different names."},
}));

}  // namespace

constexpr Message kEndpointConditions{.openapi_name = "io.k8s.api.discovery.v1.EndpointConditions",
                                      .description = "The present state of an endpoint.",
                                      .fields = kEndpointConditionsFields.fields,
                                      .by_number = kEndpointConditionsFields.by_number,
                                      .by_name = kEndpointConditionsFields.by_name};

constexpr Message kForZone{.openapi_name = "io.k8s.api.discovery.v1.ForZone",
                           .description = "A zone that an endpoint is meant for.",
                           .fields = kForZoneFields.fields,
                           .by_number = kForZoneFields.by_number,
                           .by_name = kForZoneFields.by_name};

constexpr Message kForNode{.openapi_name = "io.k8s.api.discovery.v1.ForNode",
                           .description = "A node that an endpoint is meant for.",
                           .fields = kForNodeFields.fields,
                           .by_number = kForNodeFields.by_number,
                           .by_name = kForNodeFields.by_name};

constexpr Message kEndpointHints{.openapi_name = "io.k8s.api.discovery.v1.EndpointHints",
                                 .description = "Which clients should use an endpoint.",
                                 .fields = kEndpointHintsFields.fields,
                                 .by_number = kEndpointHintsFields.by_number,
                                 .by_name = kEndpointHintsFields.by_name};

constexpr Message kSliceEndpoint{.openapi_name = "io.k8s.api.discovery.v1.Endpoint",
                                 .description = "One program behind a Service, such as a Pod.",
                                 .fields = kSliceEndpointFields.fields,
                                 .by_number = kSliceEndpointFields.by_number,
                                 .by_name = kSliceEndpointFields.by_name};

constexpr Message kSlicePort{.openapi_name = "io.k8s.api.discovery.v1.EndpointPort",
                             .description = "One port of all endpoints of a slice.",
                             .fields = kSlicePortFields.fields,
                             .by_number = kSlicePortFields.by_number,
                             .by_name = kSlicePortFields.by_name,
                             .atomic = true};

constexpr Message kEndpointSlice{
    .openapi_name = "io.k8s.api.discovery.v1.EndpointSlice",
    .description =
        "Some of the endpoints behind a Service. The label kubernetes.io/service-name says which "
        "Service.",
    .fields = kEndpointSliceFields.fields,
    .by_number = kEndpointSliceFields.by_number,
    .by_name = kEndpointSliceFields.by_name};

}  // namespace berth::api
