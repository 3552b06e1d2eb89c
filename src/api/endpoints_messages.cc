#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kEndpointSubset;
extern const Message kEndpointAddress;
extern const Message kEndpointPort;

namespace {

constexpr FieldTable kEndpointAddressFields(std::to_array<Field>({
    {.name = "ip",
     .number = 1,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The address. It cannot be a loopback, link-local or unspecified address."},
    {.name = "hostname", .number = 3, .description = "The DNS name of this endpoint, one label."},
    {.name = "nodeName",
     .number = 4,
     .presence = Presence::kOmitNil,
     .description = "The node that hosts the endpoint."},
    {.name = "targetRef",
     .number = 2,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kObjectReference,
     .description = "The object that provides the endpoint."},
}));

constexpr FieldTable kEndpointPortFields(std::to_array<Field>({
    {.name = "name",
     .number = 1,
     .description =
         "The name of the port, as in the Service. It may be left out only if there is a "
         "single port."},
    {.name = "port",
     .number = 2,
     .type = Type::kInt32,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The number of the port."},
    {.name = "protocol",
     .number = 3,
     .go_type = "v1.Protocol",
     .description = "TCP (the default), UDP or SCTP."},
    {.name = "appProtocol",
     .number = 4,
     .presence = Presence::kOmitNil,
     .description =
         "The protocol of the application, as a name of IANA or a qualified name such as "
         "kubernetes.io/h2c."},
}));

constexpr FieldTable kEndpointSubsetFields(std::to_array<Field>({
    {.name = "addresses",
     .number = 1,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kEndpointAddress,
     .description = "The addresses that are ready to take traffic."},
    {.name = "notReadyAddresses",
     .number = 2,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kEndpointAddress,
     .description = "The addresses that should not get traffic now."},
    {.name = "ports",
     .number = 3,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kEndpointPort,
     .description = "The ports of each of the addresses."},
}));

constexpr FieldTable kEndpointsFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta, kMetadataDescription),
    {.name = "subsets",
     .number = 2,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kEndpointSubset,
     .description = "Groups of addresses. All addresses of a group have the same ports."},
}));

}  // namespace

constexpr Message kEndpointAddress{.openapi_name = "io.k8s.api.core.v1.EndpointAddress",
                                   .description = "One address behind a Service.",
                                   .fields = kEndpointAddressFields.fields,
                                   .by_number = kEndpointAddressFields.by_number,
                                   .by_name = kEndpointAddressFields.by_name,
                                   .atomic = true};

constexpr Message kEndpointPort{.openapi_name = "io.k8s.api.core.v1.EndpointPort",
                                .description = "One port behind a Service.",
                                .fields = kEndpointPortFields.fields,
                                .by_number = kEndpointPortFields.by_number,
                                .by_name = kEndpointPortFields.by_name,
                                .atomic = true};

constexpr Message kEndpointSubset{.openapi_name = "io.k8s.api.core.v1.EndpointSubset",
                                  .description = "Addresses that have the same ports.",
                                  .fields = kEndpointSubsetFields.fields,
                                  .by_number = kEndpointSubsetFields.by_number,
                                  .by_name = kEndpointSubsetFields.by_name};

constexpr Message kEndpoints{
    .openapi_name = "io.k8s.api.core.v1.Endpoints",
    .description =
        "The addresses and ports behind the Service of the same name. Deprecated: EndpointSlices "
        "of discovery.k8s.io replace this kind.",
    .fields = kEndpointsFields.fields,
    .by_number = kEndpointsFields.by_number,
    .by_name = kEndpointsFields.by_name};

}  // namespace berth::api
