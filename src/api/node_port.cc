#include "api/allocation.h"
#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kNodePortSpec;
extern const Message kNodePortStatus;
extern const Message kNodePortUse;

namespace {

constexpr FieldTable kNodePortSpecFields(std::to_array<Field>({
    {.name = "nodePortRangeRef",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeReference,
     .description = "The range that the port lies in. If it is not set: the smallest one that has "
                    "it."},
    {.name = "reservedFor",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kServiceName,
     .description = "The only Service that may take the port. When that one gives it back, it is "
                    "reserved for it again. If it is not set, nobody may take it."},
    {.name = "holdSeconds",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "For how long the port is held for the Service in reservedFor, from 1 to "
                    "86400. If that is not created by then, the port is free again. If it is not "
                    "set, the port is reserved without an end."},
}));

constexpr FieldTable kNodePortUseFields(std::to_array<Field>({
    {.name = "name", .description = "The name of the port in the Service, if it has one."},
    {.name = "port", .type = Type::kInt32, .description = "Its number in the Service."},
    {.name = "protocol", .description = "TCP, UDP or SCTP."},
}));

constexpr FieldTable kNodePortStatusFields(std::to_array<Field>({
    {.name = "state",
     .description = "Allocated: a Service has it. Reserved: nobody may take it, or only the "
                    "Service in spec.reservedFor. Pending: it is held for that Service for a "
                    "while. Free: it was given back a short while ago and is not drawn yet."},
    {.name = "chosen",
     .description = "Static if the Service asked for this number, Dynamic if the server drew it."},
    {.name = "service",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kServiceReference,
     .description = "Who has it."},
    {.name = "purpose",
     .description = "NodePort, or HealthCheck for the health check of a load balancer."},
    {.name = "ports",
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kNodePortUse,
     .description = "Which ports of the Service are reached through it. More than one if they "
                    "differ in their protocol."},
    {.name = "since",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "Since when it is in this state, if not since it was created."},
    {.name = "until",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the state ends by itself, if it is Pending or Free."},
}));

constexpr FieldTable kNodePortFields(std::to_array<Field>({
    {.name = "metadata",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectMeta,
     .description = "Name, labels, annotations, and what the server notes of the object. The name "
                    "is the number of the port."},
    {.name = "spec",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kNodePortSpec,
     .description = "Where the port comes from, and whom it is kept for. Cannot be changed."},
    {.name = "status",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kNodePortStatus,
     .description = kStatusDescription},
}));

}  // namespace

constexpr Message kNodePortSpec{.openapi_name = "io.berth.allocation.v1alpha1.NodePortSpec",
                                .description = "The range of a port and its reservation.",
                                .fields = kNodePortSpecFields.fields,
                                .by_number = kNodePortSpecFields.by_number,
                                .by_name = kNodePortSpecFields.by_name};

constexpr Message kNodePortUse{.openapi_name = "io.berth.allocation.v1alpha1.NodePortUse",
                               .description = "A port of a Service.",
                               .fields = kNodePortUseFields.fields,
                               .by_number = kNodePortUseFields.by_number,
                               .by_name = kNodePortUseFields.by_name};

constexpr Message kNodePortStatus{.openapi_name = "io.berth.allocation.v1alpha1.NodePortStatus",
                                  .description = "Who has a port, and why.",
                                  .fields = kNodePortStatusFields.fields,
                                  .by_number = kNodePortStatusFields.by_number,
                                  .by_name = kNodePortStatusFields.by_name};

constexpr Message kNodePort{
    .openapi_name = "io.berth.allocation.v1alpha1.NodePort",
    .description =
        "A port that is taken or reserved: there is one such object for each. Creating "
        "one reserves the port.",
    .fields = kNodePortFields.fields,
    .by_number = kNodePortFields.by_number,
    .by_name = kNodePortFields.by_name};

}  // namespace berth::api
