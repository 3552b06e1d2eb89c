// Events have one stored form, the core one, and two views of it. Rules depend on the API that a
// request came through. The core API is lenient for the sake of old clients; events.k8s.io is not.
//
// All rules work on the core form. EventToCore and EventToNew translate the differences between the
// views (names and order of fields) without loss. They do not change kind and apiVersion. Pure.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// The API that a request came through.
enum class EventApi : uint8_t { kCore, kEvents };

/// Convert an events.k8s.io Event to a core one, and back.
codec::Value EventToCore(const codec::Value& event);
codec::Value EventToNew(const codec::Value& event);

FieldErrors ValidateEventCreate(const codec::Value& event, EventApi api);
FieldErrors ValidateEventUpdate(const codec::Value& event, const codec::Value& old, EventApi api);

}  // namespace berth::rules
