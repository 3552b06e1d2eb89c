#include "api/core.h"
#include "api/meta.h"

namespace berth::api {
namespace {

// The field `data`, number 3, has the type bytes, which no other kind uses.
// codec/range_allocation.h reads and writes it without these tables.
constexpr FieldTable kRangeAllocationFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta, "Empty."),
    {.name = "range",
     .number = 2,
     .presence = Presence::kAlways,
     .required = true,
     .description = "The range, such as 10.96.0.0/12 or 30000-32767."},
}));

}  // namespace

constexpr Message kRangeAllocation{.openapi_name = "io.k8s.api.core.v1.RangeAllocation",
                                   .description = "What is taken of a range, as a bitmap.",
                                   .fields = kRangeAllocationFields.fields,
                                   .by_number = kRangeAllocationFields.by_number,
                                   .by_name = kRangeAllocationFields.by_name};

}  // namespace berth::api
