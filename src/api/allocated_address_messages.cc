#include "api/allocation.h"
#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kAllocatedAddressSpec;
extern const Message kAllocatedAddressStatus;

namespace {

constexpr FieldTable kAllocatedAddressSpecFields(std::to_array<Field>({
    {.name = "address",
     .description = "The address as text, such as 10.96.0.10 or 2001:db8::a. It must match the "
                    "name. If not set, the server derives it from the name."},
    {.name = "ipRangeRef",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeReference,
     .description = "The range that contains the address. If not set, it is the smallest range "
                    "that contains the address."},
    {.name = "reservedFor",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kServiceName,
     .description =
         "The only Service that may use the address. When that Service releases the address, it is "
         "reserved for the Service again. If not set, no Service may use the address."},
    {.name = "holdSeconds",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many seconds the address is held for the Service in reservedFor, from 1 "
                    "to 86400. If the Service is not created by then, the address is free again. "
                    "If not set, the reservation does not end."},
}));

constexpr FieldTable kAllocatedAddressStatusFields(std::to_array<Field>({
    {.name = "state",
     .description =
         "Allocated: a Service has the address. Reserved: no Service may use it, or only the "
         "Service in spec.reservedFor. Pending: it is held for that Service for a limited time. "
         "Free: it was released a short while ago, and the server does not choose it yet."},
    {.name = "chosen",
     .description =
         "Static if the Service asked for this address, Dynamic if the server chose it."},
    {.name = "service",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kServiceReference,
     .description = "The Service that has the address."},
    {.name = "since",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the address entered this state."},
    {.name = "until",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the state ends by itself, if it is Pending or Free."},
}));

constexpr FieldTable kAllocatedAddressFields(std::to_array<Field>({
    TopField("metadata", 0, kObjectMeta,
             "Name, labels, annotations, and what the server records about the object. The "
             "name is the address as a decimal number: 174063626 is 10.96.0.10."),
    TopField("spec", 0, kAllocatedAddressSpec,
             "The address, its range, and the Service that it is reserved for. Cannot be "
             "changed: delete the object and create another one."),
    TopField("status", 0, kAllocatedAddressStatus, kStatusDescription),
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
    .description = "Which Service has an address, and since when.",
    .fields = kAllocatedAddressStatusFields.fields,
    .by_number = kAllocatedAddressStatusFields.by_number,
    .by_name = kAllocatedAddressStatusFields.by_name};

constexpr Message kAllocatedAddress{
    .openapi_name = "io.berth.allocation.v1alpha1.IPAddress",
    .description =
        "An address that is allocated or reserved. There is one object for each such address. It "
        "is the same object as the IPAddress of networking.k8s.io, in another form. Creating an "
        "object reserves the address.",
    .fields = kAllocatedAddressFields.fields,
    .by_number = kAllocatedAddressFields.by_number,
    .by_name = kAllocatedAddressFields.by_name};

}  // namespace berth::api
