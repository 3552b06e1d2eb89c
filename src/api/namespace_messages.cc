#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kNamespaceSpec;
extern const Message kNamespaceStatus;
extern const Message kNamespaceCondition;

namespace {

constexpr FieldTable kNamespaceSpecFields(std::to_array<Field>({
    {.name = "finalizers",
     .number = 1,
     .shape = Shape::kList,
     .go_type = "v1.FinalizerName",
     .description = "Who must still do something before the namespace may go."},
}));

constexpr FieldTable kNamespaceConditionFields(std::to_array<Field>({
    {.name = "type",
     .number = 1,
     .presence = Presence::kAlways,
     .go_type = "v1.NamespaceConditionType",
     .required = true,
     .description = "What the condition is about."},
    {.name = "status",
     .number = 2,
     .presence = Presence::kAlways,
     .go_type = "v1.ConditionStatus",
     .required = true,
     .description = "True, False or Unknown."},
    {.name = "lastTransitionTime",
     .number = 4,
     .type = Type::kTime,
     .presence = Presence::kAlways,
     .description = "When the status last changed."},
    {.name = "reason",
     .number = 5,
     .description = "Why it last changed, as one CamelCase word for programs."},
    {.name = "message", .number = 6, .description = "The same as a sentence for people."},
}));

constexpr FieldTable kNamespaceStatusFields(std::to_array<Field>({
    {.name = "phase",
     .number = 1,
     .go_type = "v1.NamespacePhase",
     .description = "Active, or Terminating: it has been deleted and is being emptied."},
    {.name = "conditions",
     .number = 2,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kNamespaceCondition,
     .list_kind = ListKind::kMap,
     .list_keys = kConditionKey,
     .patch_merge_key = "type",
     .patch_strategy = "merge",
     .description = "How far the deletion has come, aspect by aspect."},
}));

constexpr FieldTable kNamespaceFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta, kMetadataDescription),
    TopField("spec", 2, kNamespaceSpec, "What the namespace asks for."),
    TopField("status", 3, kNamespaceStatus, kStatusDescription),
}));

}  // namespace

constexpr Message kNamespaceSpec{.openapi_name = "io.k8s.api.core.v1.NamespaceSpec",
                                 .description = "What keeps a namespace that has been deleted.",
                                 .fields = kNamespaceSpecFields.fields,
                                 .by_number = kNamespaceSpecFields.by_number,
                                 .by_name = kNamespaceSpecFields.by_name};

constexpr Message kNamespaceCondition{.openapi_name = "io.k8s.api.core.v1.NamespaceCondition",
                                      .description = "One aspect of the state of a namespace.",
                                      .fields = kNamespaceConditionFields.fields,
                                      .by_number = kNamespaceConditionFields.by_number,
                                      .by_name = kNamespaceConditionFields.by_name};

constexpr Message kNamespaceStatus{.openapi_name = "io.k8s.api.core.v1.NamespaceStatus",
                                   .description = "The present state of a namespace.",
                                   .fields = kNamespaceStatusFields.fields,
                                   .by_number = kNamespaceStatusFields.by_number,
                                   .by_name = kNamespaceStatusFields.by_name};

constexpr Message kNamespace{
    .openapi_name = "io.k8s.api.core.v1.Namespace",
    .description = "A space of names: objects in different namespaces may be called the same.",
    .fields = kNamespaceFields.fields,
    .by_number = kNamespaceFields.by_number,
    .by_name = kNamespaceFields.by_name};

}  // namespace berth::api
