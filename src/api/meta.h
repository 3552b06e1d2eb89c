// The messages of meta/v1 that every kind shares. Constants; see schema.h.
#pragma once

#include "api/schema.h"

namespace berth::api {

extern const Message kObjectMeta;
extern const Message kOwnerReference;
extern const Message kManagedFieldsEntry;
extern const Message kListMeta;
extern const Message kCondition;
extern const Message kStatus;
extern const Message kStatusDetails;
extern const Message kStatusCause;
extern const Message kDeleteOptions;
extern const Message kPreconditions;

}  // namespace berth::api
