// Messages that several kinds of allocation.berth.io share. Constants; see schema.h. Internal.
#pragma once

#include "api/schema.h"

namespace berth::api {

extern const Message kRangeReference;
extern const Message kServiceReference;
extern const Message kServiceName;
extern const Message kRangeStatus;  // For IPRange and NodePortRange.

}  // namespace berth::api
