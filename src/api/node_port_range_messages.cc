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
                    "443. It can be made larger at any time. It can be made smaller, or replaced "
                    "by another one, as long as no Service has a port outside of the new one."},
    {.name = "priority",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description =
         "The server chooses ports from the range with the highest priority that has free ones, "
         "and from the one with the most free ports if several have the same priority. If not set, "
         "it is 0, except that the range that the cluster began with comes before all others."},
    {.name = "staticBand",
     .type = Type::kInt64,
     .presence = Presence::kOmitNil,
     .description = "The number of ports, counted from the first, that are kept for Services that "
                    "ask for a certain one. If not set, it is a 32nd of the range, at least 16 and "
                    "at most 128, or 0 if the range has 16 ports or fewer. 0 means none."},
    {.name = "strict",
     .type = Type::kBool,
     .description = "Never choose a port of the static band, not even when no other is left."},
    {.name = "disabled",
     .type = Type::kBool,
     .description =
         "Allocate nothing new from this range. Services keep the ports that they have."},
    {.name = "excluded",
     .shape = Shape::kList,
     .description = "Ports and ranges of ports, such as 30100 or 30200-30299, that are never "
                    "allocated, for example because the nodes use them. At most 4096 entries."},
    {.name = "coolDownSeconds",
     .type = Type::kInt64,
     .description =
         "How many seconds the server does not choose a port again after a Service has released "
         "it, at most 86400. A Service may still ask for it. 0 means no delay."},
}));

constexpr FieldTable kNodePortRangeFields(std::to_array<Field>({
    TopField("metadata", 0, kObjectMeta, kMetadataDescription),
    TopField("spec", 0, kNodePortRangeSpec, "Which ports may be allocated, and how."),
    TopField("status", 0, kRangeStatus, kStatusDescription),
}));

}  // namespace

constexpr Message kNodePortRangeSpec{
    .openapi_name = "io.berth.allocation.v1alpha1.NodePortRangeSpec",
    .description = "The ports of a range, and how they are allocated.",
    .fields = kNodePortRangeSpecFields.fields,
    .by_number = kNodePortRangeSpecFields.by_number,
    .by_name = kNodePortRangeSpecFields.by_name};

constexpr Message kNodePortRange{.openapi_name = "io.berth.allocation.v1alpha1.NodePortRange",
                                 .description = "Ports from which Services get their node ports.",
                                 .fields = kNodePortRangeFields.fields,
                                 .by_number = kNodePortRangeFields.by_number,
                                 .by_name = kNodePortRangeFields.by_name};

}  // namespace berth::api
