#include "api/meta.h"

namespace berth::api {
namespace {

constexpr std::array<ListKey, 1> kUidKey = {{{.name = "uid"}}};

constexpr FieldTable kOwnerReferenceFields(std::to_array<Field>({
    {.name = "apiVersion",
     .number = 5,
     .presence = Presence::kAlways,
     .required = true,
     .description = "Group and version of the owner."},
    {.name = "kind",
     .number = 1,
     .presence = Presence::kAlways,
     .required = true,
     .description = "Kind of the owner."},
    {.name = "name",
     .number = 3,
     .presence = Presence::kAlways,
     .required = true,
     .description = "Name of the owner."},
    {.name = "uid",
     .number = 4,
     .presence = Presence::kAlways,
     .go_type = "types.UID",
     .required = true,
     .description = "UID of the owner; a later object of the same name is not the owner."},
    {.name = "controller",
     .number = 6,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Whether the owner is the controller that manages this object. At most one "
                    "owner may be."},
    {.name = "blockOwnerDeletion",
     .number = 7,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Whether an owner that is deleted in the foreground stays until this object is "
                    "gone."},
}));

constexpr FieldTable kManagedFieldsEntryFields(std::to_array<Field>({
    {.name = "manager",
     .number = 1,
     .description = "Who manages these fields: the field manager that a write named, or else the "
                    "program it came from."},
    {.name = "operation",
     .number = 2,
     .go_type = "v1.ManagedFieldsOperationType",
     .description = "How they came to be managed: Apply (server-side apply) or Update (any other "
                    "write)."},
    {.name = "apiVersion",
     .number = 3,
     .description = "The version of the API in which the fields are named."},
    {.name = "time",
     .number = 4,
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the manager last added a field or changed a value."},
    {.name = "fieldsType", .number = 6, .description = "The format of the fields: FieldsV1."},
    {.name = "fieldsV1",
     .number = 7,
     .type = Type::kFieldsV1,
     .presence = Presence::kOmitNil,
     .description = "The fields, as a tree of names."},
    {.name = "subresource",
     .number = 8,
     .description = "The subresource through which the fields were written; empty for the object "
                    "itself."},
}));

constexpr FieldTable kObjectMetaFields(std::to_array<Field>({
    {.name = "name",
     .number = 1,
     .description = "Name of the object, unique among those of its kind in the namespace. Cannot "
                    "be changed."},
    {.name = "generateName",
     .number = 2,
     .description = "How the name begins when the server is to make one up; used if name is empty. "
                    "The server adds a random ending."},
    {.name = "namespace",
     .number = 3,
     .description = "The namespace the object lives in; empty for kinds without namespaces. Cannot "
                    "be changed."},
    {.name = "selfLink", .number = 4, .description = "No longer used; always empty."},
    {.name = "uid",
     .number = 5,
     .go_type = "types.UID",
     .description = "Identifies this object among all there ever were, those of the same name "
                    "included. Set by the server."},
    {.name = "resourceVersion",
     .number = 6,
     .description = "Changes with every write. An update that carries it succeeds only if nobody "
                    "wrote the object in between. Set by the server."},
    {.name = "generation",
     .number = 7,
     .type = Type::kInt64,
     .description = "Counts the changes of what the object asks for; kept for some kinds only. Set "
                    "by the server."},
    {.name = "creationTimestamp",
     .number = 8,
     .type = Type::kTime,
     .description = "When the object was created, in UTC. Set by the server."},
    {.name = "deletionTimestamp",
     .number = 9,
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the object is due to go. Set by the server when somebody deletes an "
                    "object that has finalizers; once set it stays."},
    {.name = "deletionGracePeriodSeconds",
     .number = 10,
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many seconds the object was given to end by itself. Set together with "
                    "deletionTimestamp."},
    {.name = "labels",
     .number = 11,
     .shape = Shape::kMap,
     .description = "Short keys and values by which objects are selected."},
    {.name = "annotations",
     .number = 12,
     .shape = Shape::kMap,
     .description = "Keys and values for tools to keep what they need; objects cannot be selected "
                    "by them."},
    {.name = "ownerReferences",
     .number = 13,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kOwnerReference,
     .list_kind = ListKind::kMap,
     .list_keys = kUidKey,
     .patch_merge_key = "uid",
     .patch_strategy = "merge",
     .description = "The objects this one belongs to. When all of them are gone it is deleted."},
    {.name = "finalizers",
     .number = 14,
     .shape = Shape::kList,
     .list_kind = ListKind::kSet,
     .patch_strategy = "merge",
     .description = "Who must still do something before the object may go. A deleted object stays "
                    "until this list is empty."},
    {.name = "managedFields",
     .number = 17,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kManagedFieldsEntry,
     .keep_empty = true,
     .description = "Which manager owns which fields. Kept by the server, for server-side apply."},
}));

constexpr FieldTable kListMetaFields(std::to_array<Field>({
    {.name = "selfLink", .number = 1, .description = "No longer used; always empty."},
    {.name = "resourceVersion",
     .number = 2,
     .description = "The state of the store that the list shows; a watch can start from it."},
    {.name = "continue",
     .number = 3,
     .description = "Given back to the server it brings the next part of the list; empty at the "
                    "end."},
    {.name = "remainingItemCount",
     .number = 4,
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many items are still to come, if that is known."},
}));

constexpr FieldTable kConditionFields(std::to_array<Field>({
    {.name = "type",
     .number = 1,
     .presence = Presence::kAlways,
     .required = true,
     .description = "What the condition is about, in CamelCase or as a qualified name."},
    {.name = "status",
     .number = 2,
     .presence = Presence::kAlways,
     .go_type = "v1.ConditionStatus",
     .required = true,
     .description = "True, False or Unknown."},
    {.name = "observedGeneration",
     .number = 3,
     .type = Type::kInt64,
     .description = "The metadata.generation the condition was made from."},
    {.name = "lastTransitionTime",
     .number = 4,
     .type = Type::kTime,
     .presence = Presence::kAlways,
     .required = true,
     .description = "When the status last changed."},
    {.name = "reason",
     .number = 5,
     .presence = Presence::kAlways,
     .required = true,
     .description = "Why it last changed, as one CamelCase word for programs."},
    {.name = "message",
     .number = 6,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The same as a sentence for people. May be empty."},
}));

}  // namespace

constexpr Message kOwnerReference{
    .openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
    .description =
        "Names an object that this one belongs to, in the same namespace or without "
        "one.",
    .fields = kOwnerReferenceFields.fields,
    .by_number = kOwnerReferenceFields.by_number,
    .by_name = kOwnerReferenceFields.by_name,
    .atomic = true};

constexpr Message kManagedFieldsEntry{
    .openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry",
    .description = "A manager and the fields it owns.",
    .fields = kManagedFieldsEntryFields.fields,
    .by_number = kManagedFieldsEntryFields.by_number,
    .by_name = kManagedFieldsEntryFields.by_name};

constexpr Message kObjectMeta{.openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
                              .description = "What every stored object has.",
                              .fields = kObjectMetaFields.fields,
                              .by_number = kObjectMetaFields.by_number,
                              .by_name = kObjectMetaFields.by_name};

constexpr Message kListMeta{.openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
                            .description = "What every list has.",
                            .fields = kListMetaFields.fields,
                            .by_number = kListMetaFields.by_number,
                            .by_name = kListMetaFields.by_name};

constexpr Message kCondition{.openapi_name = "io.k8s.apimachinery.pkg.apis.meta.v1.Condition",
                             .description = "One aspect of the present state of an object.",
                             .fields = kConditionFields.fields,
                             .by_number = kConditionFields.by_number,
                             .by_name = kConditionFields.by_name};

}  // namespace berth::api
