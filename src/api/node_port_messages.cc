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
     .description = "The range that contains the port. If not set, it is the smallest range that "
                    "contains the port."},
    {.name = "reservedFor",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kServiceName,
     .description =
         "The only Service that may use the port. When that Service releases the port, it is "
         "reserved for the Service again. If not set, no Service may use the port."},
    {.name = "holdSeconds",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many seconds the port is held for the Service in reservedFor, from 1 to "
                    "86400. If the Service is not created by then, the port is free again. If not "
                    "set, the reservation does not end."},
}));

constexpr FieldTable kNodePortUseFields(std::to_array<Field>({
    {.name = "name", .description = "The name of the port in the Service, if it has one."},
    {.name = "port", .type = Type::kInt32, .description = "The number of the port in the Service."},
    {.name = "protocol", .description = "TCP, UDP or SCTP."},
}));

constexpr FieldTable kNodePortStatusFields(std::to_array<Field>({
    {.name = "state",
     .description =
         "Allocated: a Service has the port. Reserved: no Service may use it, or only the Service "
         "in spec.reservedFor. Pending: it is held for that Service for a limited time. Free: it "
         "was released a short while ago, and the server does not choose it yet."},
    {.name = "chosen",
     .description = "Static if the Service asked for this number, Dynamic if the server chose it."},
    {.name = "service",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kServiceReference,
     .description = "The Service that has the port."},
    {.name = "purpose",
     .description = "NodePort, or HealthCheck for the health check of a load balancer."},
    {.name = "ports",
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kNodePortUse,
     .description = "The ports of the Service that are reached through it. There are several if "
                    "they differ in protocol."},
    {.name = "since",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the port entered this state."},
    {.name = "until",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the state ends by itself, if it is Pending or Free."},
}));

constexpr FieldTable kNodePortFields(std::to_array<Field>({
    TopField("metadata", 0, kObjectMeta,
             "Name, labels, annotations, and what the server records about the object. The "
             "name is the number of the port."),
    TopField("spec", 0, kNodePortSpec,
             "The range of the port, and the Service that it is reserved for. Cannot be changed."),
    TopField("status", 0, kNodePortStatus, kStatusDescription),
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
                                  .description = "Which Service has a port, and why.",
                                  .fields = kNodePortStatusFields.fields,
                                  .by_number = kNodePortStatusFields.by_number,
                                  .by_name = kNodePortStatusFields.by_name};

constexpr Message kNodePort{.openapi_name = "io.berth.allocation.v1alpha1.NodePort",
                            .description =
                                "A node port that is allocated or reserved. There is one object "
                                "for each such port. Creating an object reserves the port.",
                            .fields = kNodePortFields.fields,
                            .by_number = kNodePortFields.by_number,
                            .by_name = kNodePortFields.by_name};

}  // namespace berth::api
