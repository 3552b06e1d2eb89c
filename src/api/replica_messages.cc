#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kReplicaSpec;
extern const Message kReplicaStatus;

namespace {

constexpr FieldTable kReplicaSpecFields(std::to_array<Field>({
    {.name = "version", .description = "The version of Berth that the replica runs."},
    {.name = "gates",
     .shape = Shape::kMap,
     .description = "The feature gates of the replica by name, each true or false."},
    {.name = "capabilities",
     .shape = Shape::kList,
     .description =
         "What the replica supports: \"ranges\" means ranges that are objects and change while it "
         "runs. A change of a range that a replica could not follow is refused."},
    {.name = "address", .description = "The host and port on which the replica serves."},
    {.name = "advertiseAddress",
     .description = "The address at which other machines reach the replica. It is one of the "
                    "endpoints of default/kubernetes."},
    {.name = "advertisePort",
     .type = Type::kInt32,
     .description = "The port that belongs to advertiseAddress."},
    {.name = "renewTime",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When the replica was last seen alive. The object is deleted when it is not "
                    "seen for a minute."},
}));

constexpr FieldTable kReplicaStatusFields(std::to_array<Field>({
    {.name = "skew",
     .shape = Shape::kList,
     .description =
         "The feature gates and capabilities in which the replica differs from another one, with "
         "the values that they have here. Empty if all replicas agree."},
}));

constexpr FieldTable kReplicaFields(std::to_array<Field>({
    TopField("metadata", 0, kObjectMeta, kMetadataDescription),
    TopField("spec", 0, kReplicaSpec, "What the server reports about itself."),
    TopField("status", 0, kReplicaStatus, "How the server differs from other servers."),
}));

}  // namespace

constexpr Message kReplicaSpec{.openapi_name = "io.berth.allocation.v1alpha1.ReplicaSpec",
                               .description = "The version, features and address of a server.",
                               .fields = kReplicaSpecFields.fields,
                               .by_number = kReplicaSpecFields.by_number,
                               .by_name = kReplicaSpecFields.by_name};

constexpr Message kReplicaStatus{.openapi_name = "io.berth.allocation.v1alpha1.ReplicaStatus",
                                 .description = "The differences between servers of one store.",
                                 .fields = kReplicaStatusFields.fields,
                                 .by_number = kReplicaStatusFields.by_number,
                                 .by_name = kReplicaStatusFields.by_name};

constexpr Message kReplica{
    .openapi_name = "io.berth.allocation.v1alpha1.Replica",
    .description =
        "A server that runs on this store. The server writes the object itself, and the object is "
        "deleted some seconds after the server ends. Users cannot write it.",
    .fields = kReplicaFields.fields,
    .by_number = kReplicaFields.by_number,
    .by_name = kReplicaFields.by_name};

}  // namespace berth::api
