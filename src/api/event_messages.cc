#include "api/core.h"
#include "api/meta.h"

namespace berth::api {

extern const Message kEventSeries;
extern const Message kEventsEventSeries;

namespace {

constexpr FieldTable kObjectReferenceFields(std::to_array<Field>({
    {.name = "kind", .number = 1, .description = "Kind of the object."},
    {.name = "namespace", .number = 2, .description = "Its namespace."},
    {.name = "name", .number = 3, .description = "Its name."},
    {.name = "uid", .number = 4, .go_type = "types.UID", .description = "Its UID."},
    {.name = "apiVersion", .number = 5, .description = "Its group and version."},
    {.name = "resourceVersion",
     .number = 6,
     .description = "The version of it that is meant, if one in particular is."},
    {.name = "fieldPath",
     .number = 7,
     .description = "The part of it that is meant, such as spec.containers{web}, if not the "
                    "whole."},
}));

constexpr FieldTable kEventSourceFields(std::to_array<Field>({
    {.name = "component", .number = 1, .description = "The program the event comes from."},
    {.name = "host", .number = 2, .description = "The node it comes from."},
}));

constexpr FieldTable kEventSeriesFields(std::to_array<Field>({
    {.name = "count",
     .number = 1,
     .type = Type::kInt32,
     .description = "How often it has happened, up to the last time that was reported."},
    {.name = "lastObservedTime",
     .number = 2,
     .type = Type::kMicroTime,
     .presence = Presence::kAlways,
     .description = "When it last happened."},
}));

constexpr FieldTable kEventFields(std::to_array<Field>({
    {.name = "metadata",
     .number = 1,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectMeta,
     .required = true,
     .description = kMetadataDescription},
    {.name = "involvedObject",
     .number = 2,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectReference,
     .required = true,
     .description = "The object the event is about."},
    {.name = "reason",
     .number = 3,
     .description = "Why it happened, as one CamelCase word for programs."},
    {.name = "message", .number = 4, .description = "What happened, as a sentence for people."},
    {.name = "source",
     .number = 5,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kEventSource,
     .description = "Where the event comes from."},
    {.name = "firstTimestamp",
     .number = 6,
     .type = Type::kTime,
     .presence = Presence::kAlways,
     .description = "When it first happened."},
    {.name = "lastTimestamp",
     .number = 7,
     .type = Type::kTime,
     .presence = Presence::kAlways,
     .description = "When it last happened."},
    {.name = "count",
     .number = 8,
     .type = Type::kInt32,
     .description = "How often it has happened."},
    {.name = "type", .number = 9, .description = "Normal or Warning; there may be others in time."},
    {.name = "eventTime",
     .number = 10,
     .type = Type::kMicroTime,
     .presence = Presence::kAlways,
     .description = "When it first happened, to the microsecond."},
    {.name = "series",
     .number = 11,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kEventSeries,
     .description = "Set when it has happened more than once."},
    {.name = "action", .number = 12, .description = "What was done or refused, for programs."},
    {.name = "related",
     .number = 13,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kObjectReference,
     .description = "A second object that has to do with it."},
    {.name = "reportingComponent",
     .number = 14,
     .presence = Presence::kAlways,
     .description = "The controller that reported it, such as kubernetes.io/kubelet."},
    {.name = "reportingInstance",
     .number = 15,
     .presence = Presence::kAlways,
     .description = "Which instance of that controller."},
}));

constexpr FieldTable kEventsEventSeriesFields(std::to_array<Field>({
    {.name = "count",
     .number = 1,
     .type = Type::kInt32,
     .presence = Presence::kAlways,
     .required = true,
     .description = "How often it has happened, up to the last time that was reported."},
    {.name = "lastObservedTime",
     .number = 2,
     .type = Type::kMicroTime,
     .presence = Presence::kAlways,
     .required = true,
     .description = "When it last happened, as far as was reported."},
}));

constexpr FieldTable kEventsEventFields(std::to_array<Field>({
    TopField("metadata", 1, kObjectMeta, kMetadataDescription),
    {.name = "eventTime",
     .number = 2,
     .type = Type::kMicroTime,
     .presence = Presence::kAlways,
     .required = true,
     .description = "When it first happened, to the microsecond."},
    {.name = "series",
     .number = 3,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kEventsEventSeries,
     .description = "Set when it has happened more than once."},
    {.name = "reportingController",
     .number = 4,
     .description = "The controller that reported it, such as kubernetes.io/kubelet. Required for "
                    "new events."},
    {.name = "reportingInstance",
     .number = 5,
     .description = "Which instance of that controller. Required for new events; at most 128 "
                    "characters."},
    {.name = "action",
     .number = 6,
     .description = "What was done or refused, for programs. Required for new events; at most 128 "
                    "characters."},
    {.name = "reason",
     .number = 7,
     .description = "Why it was done, for people. Required for new events; at most 128 "
                    "characters."},
    {.name = "regarding",
     .number = 8,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kObjectReference,
     .description = "The object the event is about."},
    {.name = "related",
     .number = 9,
     .type = Type::kMessage,
     .presence = Presence::kOmitNil,
     .message = &kObjectReference,
     .description = "A second object that has to do with it."},
    {.name = "note",
     .number = 10,
     .description = "What happened, as a sentence for people; at most 1 kB."},
    {.name = "type", .number = 11, .description = "Normal or Warning."},
    {.name = "deprecatedSource",
     .number = 12,
     .type = Type::kMessage,
     .presence = Presence::kAlways,
     .message = &kEventSource,
     .description = "The field source of core/v1 events."},
    {.name = "deprecatedFirstTimestamp",
     .number = 13,
     .type = Type::kTime,
     .presence = Presence::kAlways,
     .description = "The field firstTimestamp of core/v1 events."},
    {.name = "deprecatedLastTimestamp",
     .number = 14,
     .type = Type::kTime,
     .presence = Presence::kAlways,
     .description = "The field lastTimestamp of core/v1 events."},
    {.name = "deprecatedCount",
     .number = 15,
     .type = Type::kInt32,
     .description = "The field count of core/v1 events."},
}));

}  // namespace

constexpr Message kObjectReference{.openapi_name = "io.k8s.api.core.v1.ObjectReference",
                                   .description = "Points to another object.",
                                   .fields = kObjectReferenceFields.fields,
                                   .by_number = kObjectReferenceFields.by_number,
                                   .by_name = kObjectReferenceFields.by_name,
                                   .atomic = true};

constexpr Message kEventSource{.openapi_name = "io.k8s.api.core.v1.EventSource",
                               .description = "A program, and the node it runs on.",
                               .fields = kEventSourceFields.fields,
                               .by_number = kEventSourceFields.by_number,
                               .by_name = kEventSourceFields.by_name};

constexpr Message kEventSeries{.openapi_name = "io.k8s.api.core.v1.EventSeries",
                               .description = "Something that keeps happening.",
                               .fields = kEventSeriesFields.fields,
                               .by_number = kEventSeriesFields.by_number,
                               .by_name = kEventSeriesFields.by_name};

constexpr Message kEvent{
    .openapi_name = "io.k8s.api.core.v1.Event",
    .description =
        "A report of something that happened to an object. Kept for a limited time, and "
        "for people rather than programs.",
    .fields = kEventFields.fields,
    .by_number = kEventFields.by_number,
    .by_name = kEventFields.by_name};

constexpr Message kEventsEventSeries{.openapi_name = "io.k8s.api.events.v1.EventSeries",
                                     .description = "Something that keeps happening.",
                                     .fields = kEventsEventSeriesFields.fields,
                                     .by_number = kEventsEventSeriesFields.by_number,
                                     .by_name = kEventsEventSeriesFields.by_name};

constexpr Message kEventsEvent{
    .openapi_name = "io.k8s.api.events.v1.Event",
    .description =
        "A report of something that happened to an object. Kept for a limited time, and "
        "for people rather than programs.",
    .fields = kEventsEventFields.fields,
    .by_number = kEventsEventFields.by_number,
    .by_name = kEventsEventFields.by_name};

}  // namespace berth::api
