#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kNodeSpec;
extern const Message kTaint;
extern const Message kNodeStatus;        // In node_status_messages.cc.
extern const Message kNodeConfigSource;  // Also part of the status.
extern const Message kConfigMapNodeConfigSource;

namespace {

constexpr FieldTable kTaintFields(std::to_array<Field>({
    {.name = "key",
     .number = 1,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The key of the taint."},
    {.name = "value", .number = 2, .description = "The value for the key."},
    {.name = "effect",
     .number = 3,
     .presence = Presence::kAlways,
     .go_type = "v1.TaintEffect",
     .required = true,
     .description = "What happens to Pods that do not tolerate the taint: NoSchedule, "
                    "PreferNoSchedule or NoExecute."},
    {.name = "timeAdded",
     .number = 4,
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the taint was added."},
}));

constexpr FieldTable kConfigMapNodeConfigSourceFields(std::to_array<Field>({
    {.name = "namespace",
     .number = 1,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The namespace of the ConfigMap."},
    {.name = "name",
     .number = 2,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The name of the ConfigMap."},
    {.name = "uid", .number = 3, .go_type = "types.UID", .description = "Its UID. Only in status."},
    {.name = "resourceVersion", .number = 4, .description = "Its version. Only in status."},
    {.name = "kubeletConfigKey",
     .number = 5,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The key of the ConfigMap that has the configuration."},
}));

constexpr FieldTable kNodeConfigSourceFields(std::to_array<Field>({
    {.name = "configMap",
     .number = 2,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kConfigMapNodeConfigSource,
     .description = "The ConfigMap."},
}));

constexpr FieldTable kNodeSpecFields(std::to_array<Field>({
    {.name = "podCIDR",
     .number = 1,
     .description = "The addresses for Pods on the node. Equals the first of podCIDRs."},
    {.name = "podCIDRs",
     .number = 7,
     .shape = Shape::kList,
     .list_kind = ListKind::kSet,
     .patch_strategy = "merge",
     .description =
         "The addresses for Pods on the node, at most one CIDR of each IP family. Cannot "
         "be changed once set."},
    {.name = "providerID",
     .number = 3,
     .description = "The name that the cloud provider has for the node. Cannot be changed once "
                    "set."},
    {.name = "unschedulable",
     .number = 4,
     .type = Type::kBool,
     .description = "Whether new Pods stay away from the node. kubectl cordon sets it."},
    {.name = "taints",
     .number = 5,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kTaint,
     .description = "The taints of the node, told apart by key and effect."},
    {.name = "configSource",
     .number = 6,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kNodeConfigSource,
     .description = "No longer in use: new objects cannot have it."},
    {.name = "externalID", .number = 2, .description = "No longer in use. Cannot be changed."},
}));

constexpr FieldTable kNodeFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta, kMetadataDescription),
    TopField("spec", 2, kNodeSpec, "How the node is to be used."),
    TopField("status", 3, kNodeStatus, "The current state, as the agent on the node reports it."),
}));

}  // namespace

constexpr Message kTaint{.openapi_name = "io.k8s.api.core.v1.Taint",
                         .description = "Keeps Pods away that do not tolerate it.",
                         .fields = kTaintFields.fields,
                         .by_number = kTaintFields.by_number,
                         .by_name = kTaintFields.by_name};

constexpr Message kConfigMapNodeConfigSource{
    .openapi_name = "io.k8s.api.core.v1.ConfigMapNodeConfigSource",
    .description = "A key of a ConfigMap. No longer in use.",
    .fields = kConfigMapNodeConfigSourceFields.fields,
    .by_number = kConfigMapNodeConfigSourceFields.by_number,
    .by_name = kConfigMapNodeConfigSourceFields.by_name};

constexpr Message kNodeConfigSource{
    .openapi_name = "io.k8s.api.core.v1.NodeConfigSource",
    .description = "Where a node gets its configuration from. No longer in use.",
    .fields = kNodeConfigSourceFields.fields,
    .by_number = kNodeConfigSourceFields.by_number,
    .by_name = kNodeConfigSourceFields.by_name};

constexpr Message kNodeSpec{.openapi_name = "io.k8s.api.core.v1.NodeSpec",
                            .description = "What others decide about a node.",
                            .fields = kNodeSpecFields.fields,
                            .by_number = kNodeSpecFields.by_number,
                            .by_name = kNodeSpecFields.by_name};

constexpr Message kNode{
    .openapi_name = "io.k8s.api.core.v1.Node",
    .description = "A machine of the cluster. Load balancers send traffic to its addresses.",
    .fields = kNodeFields.fields,
    .by_number = kNodeFields.by_number,
    .by_name = kNodeFields.by_name};

}  // namespace berth::api
