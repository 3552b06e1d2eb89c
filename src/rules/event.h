// Events: one stored form, the core one, and two views of it. Rules depend on the API a request
// came through: the core one is lenient for the sake of old clients, events.k8s.io is not.
//
// All rules work on the core form; EventToCore and EventToNew translate what differs between the
// views (names of fields, their order) and lose nothing. kind and apiVersion are left alone. Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Which API a request came through.
enum class EventApi : uint8_t { kCore, kEvents };

/// An events.k8s.io Event as a core one, and back.
codec::Value EventToCore(const codec::Value& event);
codec::Value EventToNew(const codec::Value& event);

FieldErrors ValidateEventCreate(const codec::Value& event, EventApi api);
FieldErrors ValidateEventUpdate(const codec::Value& event, const codec::Value& old, EventApi api);

}  // namespace berth::rules
