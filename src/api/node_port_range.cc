#include "api/allocation.h"
#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kNodePortRangeSpec;

namespace {

constexpr FieldTable kNodePortRangeSpecFields(std::to_array<Field>({
    {.name = "range",
     .presence = Presence::kAlways,
     .required = true,
     .description = "The ports, both ends included, such as 30000-32767, or a single one, such as "
                    "443. It can be made larger at any time; smaller or another one as long as no "
                    "Service has a port outside of it."},
    {.name = "priority",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "Ports are drawn from the range with the highest priority that has any left, "
                    "and from the emptier one of two that are equal. 0 if it is not set; the range "
                    "that the cluster began with is then above all others."},
    {.name = "staticBand",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "How many ports, counted from the first, are kept for Services that ask for a "
                    "certain one. If it is not set: a 32nd of the range, at least 16 and at most "
                    "128, and none of a range of 16 or fewer. 0: none."},
    {.name = "strict",
     .type = Type::kBool,
     .description = "Never draw a port of the static band, not even when no other is left."},
    {.name = "disabled",
     .type = Type::kBool,
     .description = "Give out nothing new from this range. What Services have of it they keep."},
    {.name = "excluded",
     .shape = Shape::kList,
     .description = "Ports and ranges of ports, such as 30100 or 30200-30299, that are never given "
                    "out, for example because the nodes use them. At most 4096 entries."},
    {.name = "coolDownSeconds",
     .type = Type::kInt64,
     .description = "For how long a port that a Service gave back is not drawn again, at most "
                    "86400. A Service may still ask for it. 0: not at all."},
}));

constexpr FieldTable kNodePortRangeFields(std::to_array<Field>({
    {.name = "metadata",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectMeta,
     .description = kMetadataDescription},
    {.name = "spec",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kNodePortRangeSpec,
     .description = "Which ports may be given out, and how."},
    {.name = "status",
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kRangeStatus,
     .description = kStatusDescription},
}));

}  // namespace

constexpr Message kNodePortRangeSpec{
    .openapi_name = "io.berth.allocation.v1alpha1.NodePortRangeSpec",
    .description = "The ports of a range and what they are for.",
    .fields = kNodePortRangeSpecFields.fields,
    .by_number = kNodePortRangeSpecFields.by_number,
    .by_name = kNodePortRangeSpecFields.by_name};

constexpr Message kNodePortRange{.openapi_name = "io.berth.allocation.v1alpha1.NodePortRange",
                                 .description = "Ports from which Services get their node ports.",
                                 .fields = kNodePortRangeFields.fields,
                                 .by_number = kNodePortRangeFields.by_number,
                                 .by_name = kNodePortRangeFields.by_name};

}  // namespace berth::api
