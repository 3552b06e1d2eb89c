#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kServiceCidrSpec;
extern const Message kServiceCidrStatus;
extern const Message kIpAddressSpec;

namespace {

constexpr FieldTable kServiceCidrSpecFields(std::to_array<Field>({
    {.name = "cidrs",
     .number = 1,
     .shape = Shape::kList,
     .description =
         "The ranges from which Services get their addresses: at most one of each IP "
         "family, such as 10.96.0.0/16 or fd00:10:96::/108. Cannot be changed, but one of "
         "the other family may be added where there is only one."},
}));

constexpr FieldTable kServiceCidrStatusFields(std::to_array<Field>({
    {.name = "conditions",
     .number = 1,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kCondition,
     .list_kind = ListKind::kMap,
     .list_keys = kConditionKey,
     .patch_merge_key = "type",
     .patch_strategy = "merge",
     .description = "The present state, aspect by aspect. Ready: addresses are given from it."},
}));

constexpr FieldTable kServiceCidrFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta, kMetadataDescription),
    TopField("spec", 2, kServiceCidrSpec, "The ranges."),
    TopField("status", 3, kServiceCidrStatus, kStatusDescription),
}));

constexpr FieldTable kParentReferenceFields(std::to_array<Field>({
    {.name = "group",
     .number = 1,
     .description = "The API group of the object; empty for the core group."},
    {.name = "resource",
     .number = 2,
     .required = true,
     .description = "Its resource, in the plural, such as services."},
    {.name = "namespace", .number = 3, .description = "Its namespace, if it has one."},
    {.name = "name", .number = 4, .required = true, .description = "Its name."},
}));

constexpr FieldTable kIpAddressSpecFields(std::to_array<Field>({
    {.name = "parentRef",
     .number = 1,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kParentReference,
     .required = true,
     .description = "The object that has the address."},
}));

constexpr FieldTable kIpAddressFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta,
             "Name, labels, annotations, and what the server notes of the object. The name "
             "is the address in its canonical form."),
    TopField("spec", 2, kIpAddressSpec, "Who has the address."),
}));

}  // namespace

constexpr Message kServiceCidrSpec{.openapi_name = "io.k8s.api.networking.v1.ServiceCIDRSpec",
                                   .description = "The ranges of a ServiceCIDR.",
                                   .fields = kServiceCidrSpecFields.fields,
                                   .by_number = kServiceCidrSpecFields.by_number,
                                   .by_name = kServiceCidrSpecFields.by_name};

constexpr Message kServiceCidrStatus{.openapi_name = "io.k8s.api.networking.v1.ServiceCIDRStatus",
                                     .description = "The present state of a ServiceCIDR.",
                                     .fields = kServiceCidrStatusFields.fields,
                                     .by_number = kServiceCidrStatusFields.by_number,
                                     .by_name = kServiceCidrStatusFields.by_name};

constexpr Message kServiceCidr{
    .openapi_name = "io.k8s.api.networking.v1.ServiceCIDR",
    .description =
        "A range of addresses, or one of each IP family, for the Services of the "
        "cluster.",
    .fields = kServiceCidrFields.fields,
    .by_number = kServiceCidrFields.by_number,
    .by_name = kServiceCidrFields.by_name};

constexpr Message kParentReference{.openapi_name = "io.k8s.api.networking.v1.ParentReference",
                                   .description = "Names the object that has an address.",
                                   .fields = kParentReferenceFields.fields,
                                   .by_number = kParentReferenceFields.by_number,
                                   .by_name = kParentReferenceFields.by_name};

constexpr Message kIpAddressSpec{.openapi_name = "io.k8s.api.networking.v1.IPAddressSpec",
                                 .description = "Who has an address.",
                                 .fields = kIpAddressSpecFields.fields,
                                 .by_number = kIpAddressSpecFields.by_number,
                                 .by_name = kIpAddressSpecFields.by_name};

constexpr Message kIpAddress{
    .openapi_name = "io.k8s.api.networking.v1.IPAddress",
    .description = "An address that is taken, and by whom: there is one such object for each.",
    .fields = kIpAddressFields.fields,
    .by_number = kIpAddressFields.by_number,
    .by_name = kIpAddressFields.by_name};

}  // namespace berth::api
