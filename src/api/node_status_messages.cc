#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kNodeConfigSource;  // In node_messages.cc.
extern const Message kNodeAddress;
extern const Message kNodeCondition;
extern const Message kDaemonEndpoint;
extern const Message kNodeDaemonEndpoints;
extern const Message kNodeSwapStatus;
extern const Message kNodeSystemInfo;
extern const Message kContainerImage;
extern const Message kAttachedVolume;
extern const Message kNodeConfigStatus;
extern const Message kNodeRuntimeHandlerFeatures;
extern const Message kNodeRuntimeHandler;
extern const Message kNodeFeatures;
extern const Message kNodeStatus;

namespace {

constexpr FieldTable kNodeAddressFields(std::to_array<Field>({
    {.name = "type",
     .number = 1,
     .presence = Presence::kAlways,
     .go_type = "v1.NodeAddressType",
     .required = true,
     .description = "Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS."},
    {.name = "address",
     .number = 2,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The address or name itself."},
}));

constexpr FieldTable kNodeConditionFields(std::to_array<Field>({
    {.name = "type",
     .number = 1,
     .presence = Presence::kAlways,
     .go_type = "v1.NodeConditionType",
     .required = true,
     .description = "What the condition is about, such as Ready."},
    {.name = "status",
     .number = 2,
     .presence = Presence::kAlways,
     .go_type = "v1.ConditionStatus",
     .required = true,
     .description = "True, False or Unknown."},
    {.name = "lastHeartbeatTime",
     .number = 3,
     .type = Type::kTime,
     .presence = Presence::kAlways,
     .description = "When the node last reported it."},
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

constexpr FieldTable kDaemonEndpointFields(std::to_array<Field>({
    {.name = "Port",
     .number = 1,
     .type = Type::kInt32,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The number of the port."},
}));

constexpr FieldTable kNodeDaemonEndpointsFields(std::to_array<Field>({
    {.name = "kubeletEndpoint",
     .number = 1,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kDaemonEndpoint,
     .description = "The port of the agent on the node."},
}));

constexpr FieldTable kNodeSwapStatusFields(std::to_array<Field>({
    {.name = "capacity",
     .number = 1,
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "All swap memory, in bytes."},
}));

constexpr FieldTable kNodeSystemInfoFields(std::to_array<Field>({
    {.name = "machineID",
     .number = 1,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The identity of the machine, from /etc/machine-id."},
    {.name = "systemUUID",
     .number = 2,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The identity of the hardware."},
    {.name = "bootID",
     .number = 3,
     .presence = Presence::kAlways,
     .required = true,
     .description = "Another text after each boot."},
    {.name = "kernelVersion",
     .number = 4,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The version of the kernel."},
    {.name = "osImage",
     .number = 5,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The operating system with its version."},
    {.name = "containerRuntimeVersion",
     .number = 6,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The container runtime with its version, such as containerd://2.1.0."},
    {.name = "kubeletVersion",
     .number = 7,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The version of the agent on the node."},
    {.name = "kubeProxyVersion",
     .number = 8,
     .presence = Presence::kAlways,
     .required = true,
     .description = "No longer in use."},
    {.name = "operatingSystem",
     .number = 9,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The kind of operating system, such as linux."},
    {.name = "architecture",
     .number = 10,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The kind of processor, such as amd64."},
    {.name = "swap",
     .number = 11,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kNodeSwapStatus,
     .description = "Its swap memory."},
}));

constexpr FieldTable kContainerImageFields(std::to_array<Field>({
    {.name = "names",
     .number = 1,
     .shape = Shape::kList,
     .presence = Presence::kAlways,
     .description = "The names of the image."},
    {.name = "sizeBytes", .number = 2, .type = Type::kInt64, .description = "Its size in bytes."},
}));

constexpr FieldTable kAttachedVolumeFields(std::to_array<Field>({
    {.name = "name",
     .number = 1,
     .presence = Presence::kAlways,
     .go_type = "v1.UniqueVolumeName",
     .required = true,
     .description = "The name of the volume."},
    {.name = "devicePath",
     .number = 2,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The path of its device on the node."},
}));

constexpr FieldTable kNodeConfigStatusFields(std::to_array<Field>({
    {.name = "assigned",
     .number = 1,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kNodeConfigSource,
     .description = "The configuration that the node tries to use."},
    {.name = "active",
     .number = 2,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kNodeConfigSource,
     .description = "The configuration that the node uses."},
    {.name = "lastKnownGood",
     .number = 3,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kNodeConfigSource,
     .description = "The configuration to return to."},
    {.name = "error", .number = 4, .description = "What is wrong with the assigned configuration."},
}));

constexpr FieldTable kNodeRuntimeHandlerFeaturesFields(std::to_array<Field>({
    {.name = "recursiveReadOnlyMounts",
     .number = 1,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Whether it can mount recursively for reading only."},
    {.name = "userNamespaces",
     .number = 2,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Whether it has user namespaces, also for volumes."},
}));

constexpr FieldTable kNodeRuntimeHandlerFields(std::to_array<Field>({
    {.name = "name",
     .number = 1,
     .presence = Presence::kAlways,
     .description = "The name of the handler. Empty for the default one."},
    {.name = "features",
     .number = 2,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kNodeRuntimeHandlerFeatures,
     .description = "Its abilities."},
}));

constexpr FieldTable kNodeFeaturesFields(std::to_array<Field>({
    {.name = "supplementalGroupsPolicy",
     .number = 1,
     .type = Type::kBool,
     .presence = Presence::kOmitNil,
     .description = "Whether it honours the policy for supplemental groups."},
}));

constexpr FieldTable kNodeStatusFields(std::to_array<Field>({
    {.name = "capacity",
     .number = 1,
     .type = Type::kQuantity,
     .shape = Shape::kMap,
     .go_type = "v1.ResourceList",
     .description = "All resources of the node, such as cpu and memory."},
    {.name = "allocatable",
     .number = 2,
     .type = Type::kQuantity,
     .shape = Shape::kMap,
     .go_type = "v1.ResourceList",
     .description = "The resources that Pods can use. The default is capacity."},
    {.name = "phase", .number = 3, .go_type = "v1.NodePhase", .description = "No longer in use."},
    {.name = "conditions",
     .number = 4,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kNodeCondition,
     .list_kind = ListKind::kMap,
     .list_keys = kConditionKey,
     .patch_merge_key = "type",
     .patch_strategy = "merge",
     .description = "The present state, aspect by aspect."},
    {.name = "addresses",
     .number = 5,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kNodeAddress,
     .list_kind = ListKind::kMap,
     .list_keys = kConditionKey,
     .patch_merge_key = "type",
     .patch_strategy = "merge",
     .description = "Where the node can be reached."},
    {.name = "daemonEndpoints",
     .number = 6,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kNodeDaemonEndpoints,
     .description = "The ports of programs on the node."},
    {.name = "nodeInfo",
     .number = 7,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kNodeSystemInfo,
     .description = "Versions and identities."},
    {.name = "images",
     .number = 8,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kContainerImage,
     .description = "The images on the node."},
    {.name = "volumesInUse",
     .number = 9,
     .shape = Shape::kList,
     .go_type = "v1.UniqueVolumeName",
     .description = "The volumes that the node uses."},
    {.name = "volumesAttached",
     .number = 10,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kAttachedVolume,
     .description = "The volumes that are attached to the node."},
    {.name = "config",
     .number = 11,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kNodeConfigStatus,
     .description = "No longer in use: new objects cannot have it."},
    {.name = "runtimeHandlers",
     .number = 12,
     .type = Type::kMessage,
     .shape = Shape::kList,
     .message = &kNodeRuntimeHandler,
     .description = "The ways in which the node can run containers."},
    {.name = "features",
     .number = 13,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kNodeFeatures,
     .description = "The abilities of its container runtime."},
    {.name = "declaredFeatures",
     .number = 14,
     .shape = Shape::kList,
     .description = "The features that the node declares, sorted."},
}));

}  // namespace

constexpr Message kNodeAddress{.openapi_name = "io.k8s.api.core.v1.NodeAddress",
                               .description = "One address of a node.",
                               .fields = kNodeAddressFields.fields,
                               .by_number = kNodeAddressFields.by_number,
                               .by_name = kNodeAddressFields.by_name};

constexpr Message kNodeCondition{.openapi_name = "io.k8s.api.core.v1.NodeCondition",
                                 .description = "The state of one aspect of a node.",
                                 .fields = kNodeConditionFields.fields,
                                 .by_number = kNodeConditionFields.by_number,
                                 .by_name = kNodeConditionFields.by_name};

constexpr Message kDaemonEndpoint{.openapi_name = "io.k8s.api.core.v1.DaemonEndpoint",
                                  .description = "A port on a node.",
                                  .fields = kDaemonEndpointFields.fields,
                                  .by_number = kDaemonEndpointFields.by_number,
                                  .by_name = kDaemonEndpointFields.by_name};

constexpr Message kNodeDaemonEndpoints{.openapi_name = "io.k8s.api.core.v1.NodeDaemonEndpoints",
                                       .description = "Where programs on a node can be reached.",
                                       .fields = kNodeDaemonEndpointsFields.fields,
                                       .by_number = kNodeDaemonEndpointsFields.by_number,
                                       .by_name = kNodeDaemonEndpointsFields.by_name};

constexpr Message kNodeSwapStatus{.openapi_name = "io.k8s.api.core.v1.NodeSwapStatus",
                                  .description = "The swap memory of a node.",
                                  .fields = kNodeSwapStatusFields.fields,
                                  .by_number = kNodeSwapStatusFields.by_number,
                                  .by_name = kNodeSwapStatusFields.by_name};

constexpr Message kNodeSystemInfo{.openapi_name = "io.k8s.api.core.v1.NodeSystemInfo",
                                  .description = "What a node runs.",
                                  .fields = kNodeSystemInfoFields.fields,
                                  .by_number = kNodeSystemInfoFields.by_number,
                                  .by_name = kNodeSystemInfoFields.by_name};

constexpr Message kContainerImage{.openapi_name = "io.k8s.api.core.v1.ContainerImage",
                                  .description = "An image that a node has.",
                                  .fields = kContainerImageFields.fields,
                                  .by_number = kContainerImageFields.by_number,
                                  .by_name = kContainerImageFields.by_name};

constexpr Message kAttachedVolume{.openapi_name = "io.k8s.api.core.v1.AttachedVolume",
                                  .description = "A volume that is attached to a node.",
                                  .fields = kAttachedVolumeFields.fields,
                                  .by_number = kAttachedVolumeFields.by_number,
                                  .by_name = kAttachedVolumeFields.by_name};

constexpr Message kNodeConfigStatus{.openapi_name = "io.k8s.api.core.v1.NodeConfigStatus",
                                    .description = "The configuration of a node. No longer in use.",
                                    .fields = kNodeConfigStatusFields.fields,
                                    .by_number = kNodeConfigStatusFields.by_number,
                                    .by_name = kNodeConfigStatusFields.by_name};

constexpr Message kNodeRuntimeHandlerFeatures{
    .openapi_name = "io.k8s.api.core.v1.NodeRuntimeHandlerFeatures",
    .description = "What a runtime handler can do.",
    .fields = kNodeRuntimeHandlerFeaturesFields.fields,
    .by_number = kNodeRuntimeHandlerFeaturesFields.by_number,
    .by_name = kNodeRuntimeHandlerFeaturesFields.by_name};

constexpr Message kNodeRuntimeHandler{.openapi_name = "io.k8s.api.core.v1.NodeRuntimeHandler",
                                      .description = "A way in which a node can run containers.",
                                      .fields = kNodeRuntimeHandlerFields.fields,
                                      .by_number = kNodeRuntimeHandlerFields.by_number,
                                      .by_name = kNodeRuntimeHandlerFields.by_name};

constexpr Message kNodeFeatures{.openapi_name = "io.k8s.api.core.v1.NodeFeatures",
                                .description = "What the container runtime of a node can do.",
                                .fields = kNodeFeaturesFields.fields,
                                .by_number = kNodeFeaturesFields.by_number,
                                .by_name = kNodeFeaturesFields.by_name};

constexpr Message kNodeStatus{.openapi_name = "io.k8s.api.core.v1.NodeStatus",
                              .description = "The present state of a node.",
                              .fields = kNodeStatusFields.fields,
                              .by_number = kNodeStatusFields.by_number,
                              .by_name = kNodeStatusFields.by_name};

}  // namespace berth::api
