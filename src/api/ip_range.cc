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
     .description = "The addresses as a CIDR, such as 10.96.0.0/16 or 2001:db8:96::/64. It can be "
                    "made larger at any time; smaller, or another one of the same IP family, as "
                    "long as no Service has an address outside of it."},
    {.name = "primary",
     .type = Type::kBool,
     .description = "Whether new Services that do not name an IP family get the one of this range. "
                    "Exactly one range is primary: setting it here clears it there."},
    {.name = "priority",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "Addresses are drawn from the range with the highest priority that has any "
                    "left, and from the emptier one of two that are equal. 0 if it is not set; the "
                    "ranges that the cluster began with are then above all others."},
    {.name = "staticBand",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many addresses, counted from the first, are kept for Services that ask "
                    "for a certain one. If it is not set: a sixteenth of the range, at least 16 "
                    "and at most 256, and none of a range of 16 or fewer. 0: none."},
    {.name = "strict",
     .type = Type::kBool,
     .description = "Never draw an address of the static band, not even when no other is left."},
    {.name = "disabled",
     .type = Type::kBool,
     .description = "Give out nothing new from this range. What Services have of it they keep."},
    {.name = "excluded",
     .shape = Shape::kList,
     .description = "Addresses and CIDRs inside the range that are never given out, for example "
                    "because something outside of the cluster has them. At most 4096 entries."},
    {.name = "coolDownSeconds",
     .type = Type::kInt64,
     .description = "For how long an address that a Service gave back is not drawn again, at most "
                    "86400. A Service may still ask for it. 0: not at all."},
}));

constexpr FieldTable kIpRangeFields(std::to_array<Field>({
    {.name = "metadata",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectMeta,
     .description = kMetadataDescription},
    {.name = "spec",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kIpRangeSpec,
     .description = "Which addresses may be given out, and how."},
    {.name = "status",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kRangeStatus,
     .description = kStatusDescription},
}));

}  // namespace

constexpr Message kIpRangeSpec{.openapi_name = "io.berth.allocation.v1alpha1.IPRangeSpec",
                               .description = "The addresses of a range and what they are for.",
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
