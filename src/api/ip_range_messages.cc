#include "api/allocation.h"
#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kIpRangeSpec;

namespace {

constexpr FieldTable kIpRangeSpecFields(std::to_array<Field>({
    {.name = "range",
     .presence = Presence::kAlways,
     .required = true,
     .description =
         "The addresses as a CIDR, such as 10.96.0.0/16 or 2001:db8:96::/64. It can be made larger "
         "at any time. It can be made smaller, or replaced by another one of the same IP family, "
         "as long as no Service has an address outside of the new one."},
    {.name = "primary",
     .type = Type::kBool,
     .description =
         "Whether new Services that do not name an IP family get the family of this range. Exactly "
         "one range is primary: making a range primary demotes the previous one."},
    {.name = "priority",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "The server chooses addresses from the range with the highest priority that "
                    "has free ones, and from the one with the most free addresses if several have "
                    "the same priority. If not set, it is 0, except that the ranges that the "
                    "cluster began with come before all others."},
    {.name = "staticBand",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description =
         "The number of addresses, counted from the first, that are kept for Services that ask for "
         "a certain one. If not set, it is a sixteenth of the range, at least 16 and at most 256, "
         "or 0 if the range has 16 addresses or fewer. 0 means none."},
    {.name = "strict",
     .type = Type::kBool,
     .description = "Never choose an address of the static band, not even when no other is left."},
    {.name = "disabled",
     .type = Type::kBool,
     .description =
         "Allocate nothing new from this range. Services keep the addresses that they have."},
    {.name = "excluded",
     .shape = Shape::kList,
     .description = "Addresses and CIDRs inside the range that are never allocated, for example "
                    "because something outside of the cluster uses them. At most 4096 entries."},
    {.name = "coolDownSeconds",
     .type = Type::kInt64,
     .description =
         "How many seconds the server does not choose an address again after a Service has "
         "released it, at most 86400. A Service may still ask for it. 0 means no delay."},
}));

constexpr FieldTable kIpRangeFields(std::to_array<Field>({
    TopField("metadata", 0, kObjectMeta, kMetadataDescription),
    TopField("spec", 0, kIpRangeSpec, "Which addresses may be allocated, and how."),
    TopField("status", 0, kRangeStatus, kStatusDescription),
}));

}  // namespace

constexpr Message kIpRangeSpec{
    .openapi_name = "io.berth.allocation.v1alpha1.IPRangeSpec",
    .description = "The addresses of a range, and how they are allocated.",
    .fields = kIpRangeSpecFields.fields,
    .by_number = kIpRangeSpecFields.by_number,
    .by_name = kIpRangeSpecFields.by_name};

constexpr Message kIpRange{
    .openapi_name = "io.berth.allocation.v1alpha1.IPRange",
    .description = "Addresses of one IP family from which Services get their cluster IPs.",
    .fields = kIpRangeFields.fields,
    .by_number = kIpRangeFields.by_number,
    .by_name = kIpRangeFields.by_name};

}  // namespace berth::api
