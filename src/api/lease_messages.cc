#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kLeaseSpec;

namespace {

constexpr FieldTable kLeaseSpecFields(std::to_array<Field>({
    {.name = "holderIdentity",
     .number = 1,
     .presence = Presence::kOmitNil,
     .description = "Who holds the lease."},
    {.name = "leaseDurationSeconds",
     .number = 2,
     .type = Type::kInt32,
     .presence = Presence::kOmitNil,
     .description = "For how many seconds after renewTime others must leave it alone."},
    {.name = "acquireTime",
     .number = 3,
     .type = Type::kMicroTime,
     .presence = Presence::kOmitNil,
     .description = "When the holder got it."},
    {.name = "renewTime",
     .number = 4,
     .type = Type::kMicroTime,
     .presence = Presence::kOmitNil,
     .description = "When the holder last renewed it."},
    {.name = "leaseTransitions",
     .number = 5,
     .type = Type::kInt32,
     .presence = Presence::kOmitNil,
     .description = "How often it went from one holder to another."},
    {.name = "strategy",
     .number = 6,
     .presence = Presence::kOmitNil,
     .go_type = "v1.CoordinatedLeaseStrategy",
     .description = "How the holder is chosen in coordinated leader election, such as "
                    "OldestEmulationVersion."},
    {.name = "preferredHolder",
     .number = 7,
     .presence = Presence::kOmitNil,
     .description = "To whom the holder should hand it over. Only together with strategy."},
}));

constexpr FieldTable kLeaseFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta, kMetadataDescription),
    TopField("spec", 2, kLeaseSpec, "Who holds the lease, and until when."),
}));

}  // namespace

constexpr Message kLeaseSpec{
    .openapi_name = "io.k8s.api.coordination.v1.LeaseSpec",
    .description = "The state of a lease. Holders write it; the server only keeps it.",
    .fields = kLeaseSpecFields.fields,
    .by_number = kLeaseSpecFields.by_number,
    .by_name = kLeaseSpecFields.by_name};

constexpr Message kLease{
    .openapi_name = "io.k8s.api.coordination.v1.Lease",
    .description = "Something that one program at a time may hold: how leaders are elected.",
    .fields = kLeaseFields.fields,
    .by_number = kLeaseFields.by_number,
    .by_name = kLeaseFields.by_name};

}  // namespace berth::api
