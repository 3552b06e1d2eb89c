#include "api/allocation.h"
#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kReplicaSpec;

namespace {

constexpr FieldTable kReplicaSpecFields(std::to_array<Field>({
    {.name = "version", .description = "Which version of the program it runs."},
    {.name = "gates",
     .shape = Shape::kMap,
     .description = "Its feature gates by name, each true or false."},
    {.name = "capabilities",
     .shape = Shape::kList,
     .description =
         "What it can honour of ranges: \"ranges\" is that they are objects which change while it "
         "runs. A second IP family is refused while a replica has the gate IPv6DualStack off."},
    {.name = "address", .description = "Where it serves, as host and port."},
    {.name = "renewTime",
     .type = Type::kTime,
     .presence = Presence::kOmitNil,
     .description = "When it was last seen alive. The object goes when it is not seen for a "
                    "minute."},
}));

constexpr FieldTable kReplicaFields(std::to_array<Field>({
    {.name = "metadata",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectMeta,
     .description = kMetadataDescription},
    {.name = "spec",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kReplicaSpec,
     .description = "What the server says of itself."},
}));

}  // namespace

constexpr Message kReplicaSpec{.openapi_name = "io.berth.allocation.v1alpha1.ReplicaSpec",
                               .description = "What a server is and what it can do.",
                               .fields = kReplicaSpecFields.fields,
                               .by_number = kReplicaSpecFields.by_number,
                               .by_name = kReplicaSpecFields.by_name};

constexpr Message kReplica{
    .openapi_name = "io.berth.allocation.v1alpha1.Replica",
    .description =
        "A server that runs on this store. It writes the object itself, and the object "
        "goes some seconds after the server does. Cannot be written by users.",
    .fields = kReplicaFields.fields,
    .by_number = kReplicaFields.by_number,
    .by_name = kReplicaFields.by_name};

}  // namespace berth::api
