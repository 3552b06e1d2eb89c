#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kRangeFenceSpec;
extern const Message kRangeClosing;
extern const Message kClosingObject;
extern const Message kAllocationNote;

namespace {

constexpr FieldTable kClosingObjectFields(std::to_array<Field>({
    {.name = "key", .required = true, .description = "The key of the object in the store."},
    {.name = "object",
     .presence = Presence::kOmitNil,
     .description =
         "The object after the change, in its stored form. Absent if the change deletes it."},
}));

constexpr FieldTable kRangeClosingFields(std::to_array<Field>({
    {.name = "operation", .required = true, .description = "The id of the change."},
    {.name = "since",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the change began."},
    {.name = "objects",
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kClosingObject,
     .description = "The range objects that change."},
}));

constexpr FieldTable kAllocationNoteFields(std::to_array<Field>({
    {.name = "form",
     .required = true,
     .description = "records, bitmaps, switching-to-records or switching-to-bitmaps."},
    {.name = "removing",
     .type = Type::kBool,
     .presence = Presence::kOmitEmpty,
     .description = "Whether the rest of the previous form is still being removed."},
    {.name = "force",
     .type = Type::kBool,
     .presence = Presence::kOmitEmpty,
     .description = "Whether allocations that do not fit the new form are dropped."},
    {.name = "since",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When this form took effect."},
}));

constexpr FieldTable kRangeFenceSpecFields(std::to_array<Field>({
    {.name = "allocations",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kAllocationNote,
     .description = "How the store keeps allocations. Only set in the fence called allocations."},
    {.name = "closing",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeClosing,
     .description = "The change in progress that removes values from ranges. Absent if there is no "
                    "such change."},
}));

constexpr FieldTable kRangeFenceFields(std::to_array<Field>({
    TopField("metadata", 0, kObjectMeta,
             "The name says which ranges the fence is for: ipv4, ipv6 or nodeports. The "
             "fence called allocations is for the way in which allocations are stored."),
    TopField("spec", 0, kRangeFenceSpec, "What a write that takes a value has to know."),
}));

}  // namespace

constexpr Message kClosingObject{.openapi_name = "io.berth.allocation.v1alpha1.ClosingObject",
                                 .description = "A range object that is about to change.",
                                 .fields = kClosingObjectFields.fields,
                                 .by_number = kClosingObjectFields.by_number,
                                 .by_name = kClosingObjectFields.by_name};

constexpr Message kRangeClosing{
    .openapi_name = "io.berth.allocation.v1alpha1.RangeClosing",
    .description = "A change of ranges that takes effect if nothing prevents it.",
    .fields = kRangeClosingFields.fields,
    .by_number = kRangeClosingFields.by_number,
    .by_name = kRangeClosingFields.by_name};

constexpr Message kAllocationNote{
    .openapi_name = "io.berth.allocation.v1alpha1.AllocationNote",
    .description = "How the store records which Service has which value.",
    .fields = kAllocationNoteFields.fields,
    .by_number = kAllocationNoteFields.by_number,
    .by_name = kAllocationNoteFields.by_name};

constexpr Message kRangeFenceSpec{.openapi_name = "io.berth.allocation.v1alpha1.RangeFenceSpec",
                                  .description = "The changes of ranges that are in progress.",
                                  .fields = kRangeFenceSpecFields.fields,
                                  .by_number = kRangeFenceSpecFields.by_number,
                                  .by_name = kRangeFenceSpecFields.by_name};

constexpr Message kRangeFence{
    .openapi_name = "io.berth.allocation.v1alpha1.RangeFence",
    .description =
        "Keeps changes of ranges and allocations from missing each other. Every change of what "
        "ranges allow, or of how allocations are stored, writes the fence. Every write that takes "
        "a value compares it.",
    .fields = kRangeFenceFields.fields,
    .by_number = kRangeFenceFields.by_number,
    .by_name = kRangeFenceFields.by_name};

}  // namespace berth::api
