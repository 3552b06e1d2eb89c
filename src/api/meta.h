// The messages of meta/v1 that every kind shares, and the fields that most kinds have in common.
// Constants; see schema.h.
#pragma once

#include <cstdint>
#include <string_view>

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

/// For every kind.
inline constexpr std::string_view kMetadataDescription =
    "Name, labels, annotations, and what the server records about the object.";
/// For kinds that have a status.
inline constexpr std::string_view kStatusDescription =
    "The current state. It is set by the server, not by users.";

/// Returns a field that is a message at the top of a kind: metadata, spec or status. `number` is 0
/// for kinds that are never written as protobuf.
constexpr Field TopField(std::string_view name, uint32_t number, const Message& message,
                         std::string_view description) {
  return {.name = name,
          .number = number,
          .type = Type::kMessage,
          .presence = Presence::kAlways,
          .message = &message,
          .description = description};
}

}  // namespace berth::api
