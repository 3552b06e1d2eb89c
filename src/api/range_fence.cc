#include "api/allocation.h"
#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kRangeFenceSpec;
extern const Message kRangeClosing;
extern const Message kClosingObject;
extern const Message kAllocationNote;

namespace {

constexpr FieldTable kClosingObjectFields(std::to_array<Field>({
    {.name = "key", .required = true, .description = "Its key in the store."},
    {.name = "object",
     .presence = Presence::kOmitNil,
     .description = "The object as it shall be, as the store keeps it. Absent if it shall be "
                    "gone."},
}));

constexpr FieldTable kRangeClosingFields(std::to_array<Field>({
    {.name = "operation", .required = true, .description = "Whose change it is."},
    {.name = "since",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When it began."},
    {.name = "objects",
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kClosingObject,
     .description = "The range objects that it changes."},
}));

constexpr FieldTable kAllocationNoteFields(std::to_array<Field>({
    {.name = "form",
     .required = true,
     .description = "records, bitmaps, switching-to-records or switching-to-bitmaps."},
    {.name = "removing",
     .type = Type::kBool,
     .presence = Presence::kOmitEmpty,
     .description = "What is left of the form before is still being removed."},
    {.name = "force",
     .type = Type::kBool,
     .presence = Presence::kOmitEmpty,
     .description = "What the new form has no room for is left out."},
    {.name = "since",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When it became so."},
}));

constexpr FieldTable kRangeFenceSpecFields(std::to_array<Field>({
    {.name = "allocations",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kAllocationNote,
     .description = "How the store keeps allocations. Only in the one called allocations."},
    {.name = "closing",
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kRangeClosing,
     .description = "The change under way that takes values away. Absent if there is none."},
}));

constexpr FieldTable kRangeFenceFields(std::to_array<Field>({
    {.name = "metadata",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectMeta,
     .description = "Its name says whose ranges it is for: ipv4, ipv6 or nodeports; or that it is "
                    "about how allocations are kept: allocations."},
    {.name = "spec",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kRangeFenceSpec,
     .description = "What whoever takes a value has to know."},
}));

}  // namespace

constexpr Message kClosingObject{.openapi_name = "io.berth.allocation.v1alpha1.ClosingObject",
                                 .description = "A range object that shall change.",
                                 .fields = kClosingObjectFields.fields,
                                 .by_number = kClosingObjectFields.by_number,
                                 .by_name = kClosingObjectFields.by_name};

constexpr Message kRangeClosing{
    .openapi_name = "io.berth.allocation.v1alpha1.RangeClosing",
    .description = "A change of a range that is decided once nothing stands against it.",
    .fields = kRangeClosingFields.fields,
    .by_number = kRangeClosingFields.by_number,
    .by_name = kRangeClosingFields.by_name};

constexpr Message kAllocationNote{.openapi_name = "io.berth.allocation.v1alpha1.AllocationNote",
                                  .description = "How the store keeps who has which value.",
                                  .fields = kAllocationNoteFields.fields,
                                  .by_number = kAllocationNoteFields.by_number,
                                  .by_name = kAllocationNoteFields.by_name};

constexpr Message kRangeFenceSpec{.openapi_name = "io.berth.allocation.v1alpha1.RangeFenceSpec",
                                  .description = "What is about to happen to ranges.",
                                  .fields = kRangeFenceSpecFields.fields,
                                  .by_number = kRangeFenceSpecFields.by_number,
                                  .by_name = kRangeFenceSpecFields.by_name};

constexpr Message kRangeFence{
    .openapi_name = "io.berth.allocation.v1alpha1.RangeFence",
    .description =
        "Written with every change of what ranges allow, or of how allocations are kept, and "
        "compared by every write that takes a value, so that neither passes the other.",
    .fields = kRangeFenceFields.fields,
    .by_number = kRangeFenceFields.by_number,
    .by_name = kRangeFenceFields.by_name};

}  // namespace berth::api
