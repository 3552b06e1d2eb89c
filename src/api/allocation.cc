#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kNodePortRangeSpec;
extern const Message kNodePortSpec;
extern const Message kNodePortStatus;
extern const Message kRangeReference;
extern const Message kServiceReference;

namespace {

constexpr FieldTable kRangeReferenceFields(std::to_array<Field>({
    {.name = "apiGroup", .description = "The API group of the range."},
    {.name = "kind", .description = "Its kind, such as NodePortRange."},
    {.name = "name", .required = true, .description = "Its name."},
}));

constexpr FieldTable kServiceReferenceFields(std::to_array<Field>({
    {.name = "namespace", .required = true, .description = "The namespace of the Service."},
    {.name = "name", .required = true, .description = "Its name."},
    {.name = "uid", .description = "Its uid, which tells it from another one of the same name."},
}));

constexpr FieldTable kNodePortRangeSpecFields(std::to_array<Field>({
    {.name = "range",
     .required = true,
     .description = "The ports, both ends included, such as 30000-32767."},
}));

constexpr FieldTable kNodePortRangeFields(std::to_array<Field>({
    {.name = "metadata",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectMeta,
     .description = "Name, labels, annotations, and what the server notes of the object."},
    {.name = "spec",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kNodePortRangeSpec,
     .description = "Which ports may be given out."},
}));

constexpr FieldTable kNodePortSpecFields(std::to_array<Field>({
    {.name = "nodePortRangeRef",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeReference,
     .description = "The range that the port lies in."},
}));

constexpr FieldTable kNodePortStatusFields(std::to_array<Field>({
    {.name = "state", .description = "Allocated: a Service has it."},
    {.name = "chosen",
     .description = "Static if the Service asked for this number, Dynamic if the server drew it."},
    {.name = "service",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kServiceReference,
     .description = "Who has it."},
    {.name = "purpose",
     .description = "NodePort, or HealthCheck for the health check of a load balancer."},
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
     .description = "Where the port comes from."},
    {.name = "status",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kNodePortStatus,
     .description = "What is the case at present. Not written by users."},
}));

}  // namespace

constexpr Message kRangeReference{.openapi_name = "io.berth.allocation.v1alpha1.RangeReference",
                                  .description = "Names the range that a value comes from.",
                                  .fields = kRangeReferenceFields.fields,
                                  .by_number = kRangeReferenceFields.by_number,
                                  .by_name = kRangeReferenceFields.by_name};

constexpr Message kServiceReference{.openapi_name = "io.berth.allocation.v1alpha1.ServiceReference",
                                    .description = "Names the Service that has a value.",
                                    .fields = kServiceReferenceFields.fields,
                                    .by_number = kServiceReferenceFields.by_number,
                                    .by_name = kServiceReferenceFields.by_name};

constexpr Message kNodePortRangeSpec{
    .openapi_name = "io.berth.allocation.v1alpha1.NodePortRangeSpec",
    .description = "The ports of a range.",
    .fields = kNodePortRangeSpecFields.fields,
    .by_number = kNodePortRangeSpecFields.by_number,
    .by_name = kNodePortRangeSpecFields.by_name};

constexpr Message kNodePortRange{.openapi_name = "io.berth.allocation.v1alpha1.NodePortRange",
                                 .description = "Ports from which Services get their node ports.",
                                 .fields = kNodePortRangeFields.fields,
                                 .by_number = kNodePortRangeFields.by_number,
                                 .by_name = kNodePortRangeFields.by_name};

constexpr Message kNodePortSpec{.openapi_name = "io.berth.allocation.v1alpha1.NodePortSpec",
                                .description = "Where a port comes from.",
                                .fields = kNodePortSpecFields.fields,
                                .by_number = kNodePortSpecFields.by_number,
                                .by_name = kNodePortSpecFields.by_name};

constexpr Message kNodePortStatus{.openapi_name = "io.berth.allocation.v1alpha1.NodePortStatus",
                                  .description = "Who has a port, and why.",
                                  .fields = kNodePortStatusFields.fields,
                                  .by_number = kNodePortStatusFields.by_number,
                                  .by_name = kNodePortStatusFields.by_name};

constexpr Message kNodePort{
    .openapi_name = "io.berth.allocation.v1alpha1.NodePort",
    .description = "A port that is taken, and by whom: there is one such object for each.",
    .fields = kNodePortFields.fields,
    .by_number = kNodePortFields.by_number,
    .by_name = kNodePortFields.by_name};

}  // namespace berth::api
