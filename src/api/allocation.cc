#include "api/allocation.h"

#include "api/meta.h"

namespace berth::api {

extern const Message kRangeBand;
extern const Message kRangeBands;

namespace {

constexpr std::array<ListKey, 1> kTypeKey = {{{.name = "type"}}};

constexpr FieldTable kRangeReferenceFields(std::to_array<Field>({
    {.name = "apiGroup",
     .description =
         "The API group of the range: allocation.berth.io, or networking.k8s.io of a ServiceCIDR."},
    {.name = "kind", .description = "Its kind: IPRange, NodePortRange or ServiceCIDR."},
    {.name = "name", .required = true, .description = "Its name."},
}));

constexpr FieldTable kServiceReferenceFields(std::to_array<Field>({
    {.name = "namespace", .required = true, .description = "The namespace of the Service."},
    {.name = "name", .required = true, .description = "Its name."},
    {.name = "uid", .description = "Its uid, which tells it from another one of the same name."},
}));

constexpr FieldTable kServiceNameFields(std::to_array<Field>({
    {.name = "namespace",
     .presence = Presence::kAlways,
     .required = true,
     .description = "The namespace of the Service."},
    {.name = "name",
     .presence = Presence::kAlways,
     .required = true,
     .description = "Its name. There need not be a Service of that name yet."},
}));

constexpr FieldTable kRangeBandFields(std::to_array<Field>({
    {.name = "first", .description = "The first address or port of the band."},
    {.name = "last", .description = "The last one; it belongs to the band."},
    {.name = "free",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many of the band are free."},
    {.name = "used",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many of the band Services have."},
}));

constexpr FieldTable kRangeBandsFields(std::to_array<Field>({
    {.name = "static",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeBand,
     .description = "The lower part, kept for Services that ask for a certain value. The server "
                    "draws from it only when the other part has nothing left, and never if "
                    "spec.strict is set. Absent if there is no such part."},
    {.name = "dynamic",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeBand,
     .description = "The upper part, from which the server draws. Absent if the lower part is the "
                    "whole range."},
}));

constexpr FieldTable kRangeStatusFields(std::to_array<Field>({
    {.name = "total",
     .description = "How many values the range has to give out: all but network and broadcast "
                    "addresses and what is excluded. A decimal number as text, since an IPv6 range "
                    "can have more than fit into a number of 64 bits."},
    {.name = "free",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many of them are neither used nor reserved nor cooling down; "
                    "9223372036854775807 also if there are more than that."},
    {.name = "used",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many of them Services have."},
    {.name = "reserved",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many of them nobody may take, or only a certain Service that does not "
                    "have them at present."},
    {.name = "cooling",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many of them were given back less than spec.coolDownSeconds ago."},
    {.name = "bands",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeBands,
     .description = "The two parts of the range."},
    {.name = "conditions",
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kCondition,
     .list_kind = ListKind::kMap,
     .list_keys = kTypeKey,
     .patch_merge_key = "type",
     .patch_strategy = "merge",
     .description = "The present state, aspect by aspect. Ready: values are given from it. "
                    "Draining: it is disabled and Services still have values of it. Overlapping: "
                    "another range has some of its values too. Exhausted: nothing is free. "
                    "Terminating: it was deleted and goes once nothing of it is in use."},
    {.name = "observedGeneration",
     .type = Type::kInt64,
     .description = "The metadata.generation that the rest of the status was made from."},
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

constexpr Message kServiceName{.openapi_name = "io.berth.allocation.v1alpha1.ServiceName",
                               .description = "Names a Service, which may be there or not.",
                               .fields = kServiceNameFields.fields,
                               .by_number = kServiceNameFields.by_number,
                               .by_name = kServiceNameFields.by_name};

constexpr Message kRangeBand{.openapi_name = "io.berth.allocation.v1alpha1.RangeBand",
                             .description = "A part of a range.",
                             .fields = kRangeBandFields.fields,
                             .by_number = kRangeBandFields.by_number,
                             .by_name = kRangeBandFields.by_name};

constexpr Message kRangeBands{
    .openapi_name = "io.berth.allocation.v1alpha1.RangeBands",
    .description = "The parts of a range, of which each serves one way of asking.",
    .fields = kRangeBandsFields.fields,
    .by_number = kRangeBandsFields.by_number,
    .by_name = kRangeBandsFields.by_name};

constexpr Message kRangeStatus{.openapi_name = "io.berth.allocation.v1alpha1.RangeStatus",
                               .description = "How full a range is, and whether it is in use.",
                               .fields = kRangeStatusFields.fields,
                               .by_number = kRangeStatusFields.by_number,
                               .by_name = kRangeStatusFields.by_name};

}  // namespace berth::api
