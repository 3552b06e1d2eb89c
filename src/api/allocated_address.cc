#include "api/allocation.h"
#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kAllocatedAddressSpec;
extern const Message kAllocatedAddressStatus;

namespace {

constexpr FieldTable kAllocatedAddressSpecFields(std::to_array<Field>({
    {.name = "address",
     .description = "The address as text, such as 10.96.0.10 or 2001:db8::a. It must be the one "
                    "that the name says, and is filled in from there if it is not set."},
    {.name = "ipRangeRef",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeReference,
     .description = "The range that the address lies in. If it is not set: the smallest one that "
                    "has it."},
    {.name = "reservedFor",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kServiceName,
     .description = "The only Service that may take the address. When that one gives it back, it "
                    "is reserved for it again. If it is not set, nobody may take it."},
    {.name = "holdSeconds",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "For how long the address is held for the Service in reservedFor, from 1 to "
                    "86400. If that is not created by then, the address is free again. If it is "
                    "not set, the address is reserved without an end."},
}));

constexpr FieldTable kAllocatedAddressStatusFields(std::to_array<Field>({
    {.name = "state",
     .description = "Allocated: a Service has it. Reserved: nobody may take it, or only the "
                    "Service in spec.reservedFor. Pending: it is held for that Service for a "
                    "while. Free: it was given back a short while ago and is not drawn yet."},
    {.name = "chosen",
     .description = "Static if the Service asked for this address, Dynamic if the server drew it."},
    {.name = "service",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kServiceReference,
     .description = "Who has it."},
    {.name = "since",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "Since when it is in this state."},
    {.name = "until",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the state ends by itself, if it is Pending or Free."},
}));

constexpr FieldTable kAllocatedAddressFields(std::to_array<Field>({
    {.name = "metadata",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectMeta,
     .description = "Name, labels, annotations, and what the server notes of the object. The name "
                    "is the address as a decimal number: 174063626 is 10.96.0.10."},
    {.name = "spec",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kAllocatedAddressSpec,
     .description =
         "Which address it is, and whom it is kept for. Cannot be changed: delete the object "
         "and create another one."},
    {.name = "status",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kAllocatedAddressStatus,
     .description = kStatusDescription},
}));

}  // namespace

constexpr Message kAllocatedAddressSpec{
    .openapi_name = "io.berth.allocation.v1alpha1.IPAddressSpec",
    .description = "An address, its range and its reservation.",
    .fields = kAllocatedAddressSpecFields.fields,
    .by_number = kAllocatedAddressSpecFields.by_number,
    .by_name = kAllocatedAddressSpecFields.by_name};

constexpr Message kAllocatedAddressStatus{
    .openapi_name = "io.berth.allocation.v1alpha1.IPAddressStatus",
    .description = "Who has an address, and since when.",
    .fields = kAllocatedAddressStatusFields.fields,
    .by_number = kAllocatedAddressStatusFields.by_number,
    .by_name = kAllocatedAddressStatusFields.by_name};

constexpr Message kAllocatedAddress{
    .openapi_name = "io.berth.allocation.v1alpha1.IPAddress",
    .description =
        "An address that is taken or reserved: there is one such object for each, and "
        "it is the same as the IPAddress of networking.k8s.io, shown in another way. "
        "Creating one reserves the address.",
    .fields = kAllocatedAddressFields.fields,
    .by_number = kAllocatedAddressFields.by_number,
    .by_name = kAllocatedAddressFields.by_name};

}  // namespace berth::api
