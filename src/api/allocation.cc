#include "api/allocation.h"

#include "api/meta.h"

namespace berth::api {

extern const Message kRangeBand;
extern const Message kRangeBands;

namespace {

constexpr FieldTable kRangeReferenceFields(std::to_array<Field>({
    {.name = "apiGroup",
     .description = "The API group of the range: allocation.berth.io, or networking.k8s.io for a "
                    "ServiceCIDR."},
    {.name = "kind",
     .description = "The kind of the range: IPRange, NodePortRange or ServiceCIDR."},
    {.name = "name", .required = true, .description = "The name of the range."},
}));

constexpr FieldTable kServiceReferenceFields(std::to_array<Field>({
    {.name = "namespace", .required = true, .description = "The namespace of the Service."},
    {.name = "name", .required = true, .description = "The name of the Service."},
    {.name = "uid",
     .description = "The uid of the Service, which distinguishes it from others of the same name."},
}));

constexpr FieldTable kServiceNameFields(std::to_array<Field>({
    {.name = "namespace",
     .presence = Presence::kAlways,
     .required = true,
     .description = "The namespace of the Service."},
    {.name = "name",
     .presence = Presence::kAlways,
     .required = true,
     .description = "The name of the Service, which need not exist yet."},
}));

constexpr FieldTable kRangeBandFields(std::to_array<Field>({
    {.name = "first", .description = "The first address or port of the band."},
    {.name = "last", .description = "The last address or port of the band."},
    {.name = "free",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "The number of free values in the band."},
    {.name = "used",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "The number of values in the band that Services have."},
}));

constexpr FieldTable kRangeBandsFields(std::to_array<Field>({
    {.name = "static",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeBand,
     .description = "The lower part, kept for Services that ask for a certain value. The server "
                    "chooses from it only when the upper part is exhausted, and never if "
                    "spec.strict is set. Absent if the range has no such part."},
    {.name = "dynamic",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeBand,
     .description = "The upper part, from which the server chooses. Absent if the lower part is "
                    "the whole range."},
}));

constexpr FieldTable kRangeStatusFields(std::to_array<Field>({
    {.name = "total",
     .description = "The number of values that the range can allocate: all except network and "
                    "broadcast addresses and excluded values. A decimal number as text, because an "
                    "IPv6 range can have more values than a 64-bit number can count."},
    {.name = "free",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "The number of values that are not used, reserved or cooling down. It is "
                    "9223372036854775807 if there are more than that."},
    {.name = "used",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "The number of values that Services have."},
    {.name = "reserved",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "The number of values that no Service may use, or only a certain Service that "
                    "does not have them at present."},
    {.name = "cooling",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "The number of values that were released less than spec.coolDownSeconds ago."},
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
     .list_keys = kConditionKey,
     .patch_merge_key = "type",
     .patch_strategy = "merge",
     .description = "The current state. Ready: values are allocated from the range. Draining: it "
                    "is disabled, and Services still have values from it. Overlapping: another "
                    "range has some of its values too. Exhausted: no value is free. Terminating: "
                    "it was deleted, and is removed when none of its values is in use any more."},
    {.name = "observedGeneration",
     .type = Type::kInt64,
     .description = "The metadata.generation that the rest of the status is based on."},
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
                               .description = "Names a Service, which may or may not exist.",
                               .fields = kServiceNameFields.fields,
                               .by_number = kServiceNameFields.by_number,
                               .by_name = kServiceNameFields.by_name};

constexpr Message kRangeBand{.openapi_name = "io.berth.allocation.v1alpha1.RangeBand",
                             .description = "A part of a range.",
                             .fields = kRangeBandFields.fields,
                             .by_number = kRangeBandFields.by_number,
                             .by_name = kRangeBandFields.by_name};

constexpr Message kRangeBands{.openapi_name = "io.berth.allocation.v1alpha1.RangeBands",
                              .description =
                                  "The parts of a range: one for Services that ask for a certain "
                                  "value, one from which the server chooses.",
                              .fields = kRangeBandsFields.fields,
                              .by_number = kRangeBandsFields.by_number,
                              .by_name = kRangeBandsFields.by_name};

constexpr Message kRangeStatus{.openapi_name = "io.berth.allocation.v1alpha1.RangeStatus",
                               .description = "How full a range is, and whether it is in use.",
                               .fields = kRangeStatusFields.fields,
                               .by_number = kRangeStatusFields.by_number,
                               .by_name = kRangeStatusFields.by_name};

}  // namespace berth::api
