#include "api/meta.h"

namespace berth::api {
namespace {

constexpr FieldTable kStatusCauseFields(std::to_array<Field>({
    {.name = "reason",
     .number = 1,
     .go_type = "v1.CauseType",
     .description = "What kind of fault it is, as one word for programs."},
    {.name = "message", .number = 2, .description = "The fault as a sentence for people."},
    {.name = "field",
     .number = 3,
     .description = "The field at fault, such as spec.ports[0].port."},
}));

constexpr FieldTable kStatusDetailsFields(std::to_array<Field>({
    {.name = "name", .number = 1, .description = "Name of the object concerned."},
    {.name = "group", .number = 2, .description = "Its API group; empty for the core group."},
    {.name = "kind", .number = 3, .description = "Its kind or resource."},
    {.name = "uid", .number = 6, .go_type = "types.UID", .description = "Its UID, if it has one."},
    {.name = "causes",
     .number = 4,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kStatusCause,
     .description = "Each single fault, where there are several."},
    {.name = "retryAfterSeconds",
     .number = 5,
     .type = Type::kInt32,
     .description = "After how many seconds trying again makes sense."},
}));

constexpr FieldTable kStatusFields(std::to_array<Field>({
    TopField("metadata", 1, kListMeta, "What every list has; mostly empty here."),
    {.name = "status", .number = 2, .description = "Success or Failure."},
    {.name = "message", .number = 3, .description = "What happened, as a sentence for people."},
    {.name = "reason",
     .number = 4,
     .go_type = "v1.StatusReason",
     .description = "Why it failed, as one word for programs."},
    {.name = "details",
     .number = 5,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kStatusDetails,
     .description = "More about the reason."},
    {.name = "code",
     .number = 6,
     .type = Type::kInt32,
     .description = "The HTTP code of the answer."},
}));

constexpr FieldTable kPreconditionsFields(std::to_array<Field>({
    {.name = "uid",
     .number = 1,
     .presence = Presence::kOmitNil,
     .go_type = "types.UID",
     .description = "The UID the object must have."},
    {.name = "resourceVersion",
     .number = 2,
     .presence = Presence::kOmitNil,
     .description = "The version the object must have."},
}));

constexpr FieldTable kDeleteOptionsFields(std::to_array<Field>({
    {.name = "gracePeriodSeconds",
     .number = 1,
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many seconds the object is given to end by itself; 0 is at once."},
    {.name = "preconditions",
     .number = 2,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kPreconditions,
     .description = "What must be true of the object, or else it is not deleted (409 Conflict)."},
    {.name = "orphanDependents",
     .number = 3,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Old form of propagationPolicy, which is to be used instead."},
    {.name = "propagationPolicy",
     .number = 4,
     .presence = Presence::kOmitNil,
     .go_type = "v1.DeletionPropagation",
     .description = "What becomes of objects that belong to this one: Orphan (they stay), "
                    "Background (they go later) or Foreground (they go first)."},
    {.name = "dryRun",
     .number = 5,
     .shape = Shape::kList,
     .description = "All: everything is checked, nothing is deleted."},
    {.name = "ignoreStoreReadErrorWithClusterBreakingPotential",
     .number = 6,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Delete even what cannot be read any more."},
}));

}  // namespace

constexpr Message kStatusCause{.openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause",
                               .description = "One fault of a request.",
                               .fields = kStatusCauseFields.fields,
                               .by_number = kStatusCauseFields.by_number,
                               .by_name = kStatusCauseFields.by_name};

constexpr Message kStatusDetails{
    .openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails",
    .description = "What a Status is about.",
    .fields = kStatusDetailsFields.fields,
    .by_number = kStatusDetailsFields.by_number,
    .by_name = kStatusDetailsFields.by_name};

constexpr Message kStatus{.openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
                          .description = "The answer to a request that returns no object.",
                          .fields = kStatusFields.fields,
                          .by_number = kStatusFields.by_number,
                          .by_name = kStatusFields.by_name};

constexpr Message kPreconditions{
    .openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions",
    .description = "What must be true of an object before it is changed or deleted.",
    .fields = kPreconditionsFields.fields,
    .by_number = kPreconditionsFields.by_number,
    .by_name = kPreconditionsFields.by_name};

constexpr Message kDeleteOptions{
    .openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    .description = "How an object is to be deleted.",
    .fields = kDeleteOptionsFields.fields,
    .by_number = kDeleteOptionsFields.by_number,
    .by_name = kDeleteOptionsFields.by_name};

}  // namespace berth::api
