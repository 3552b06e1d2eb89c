#include "berth/inspect/whois_document.h"

#include <utility>

#include "berth/inspect/document_parts.h"
#include "inspect/names.h"

namespace berth::cli {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;
using inspect::Held;
using inspect::ValueAnswer;

Value ServesDocument(const Held& held) {
  Array ports;
  for (const audit::PortUse& port : held.ports) {
    ports.push_back(Object{{"name", StringOrNull(port.name)},
                           {"port", port.port},
                           {"protocol", StringOrNull(port.protocol)}});
  }
  return ports;
}

/// Adds how a Service has a value.
void SetHeld(Object& object, const Held& held) {
  object.Set("origin", inspect::NameOf(held.origin));
  object.Set("manager", StringOrNull(held.manager));
  object.Set("healthCheck", held.health_check);
  object.Set("serves", ServesDocument(held));
}

Value RecordDocument(const inspect::Record* record) {
  if (record == nullptr) return {};
  const bool names = !record->facts.service_name.empty();
  return Object{
      {"name", record->facts.object.name},
      {"resource", record->facts.object.resource},
      {"state", rules::StateText(record->facts.state)},
      {"service",
       names ? Value(record->facts.service_namespace + "/" + record->facts.service_name) : Value()},
      {"reservedFor", StringOrNull(record->facts.reserved_for)},
      {"since", TimeOrNull(record->since)},
      {"until", TimeOrNull(record->until)},
      {"managedBy", StringOrNull(record->managed_by)},
      {"parent", StringOrNull(record->parent)}};
}

Value PlacesDocument(const ValueAnswer& answer) {
  Array places;
  for (const inspect::Place& place : answer.places) {
    places.push_back(Object{{"range", RangeRefDocument(place.range)},
                            {"band", place.band ? Value(inspect::NameOf(*place.band)) : Value()},
                            {"excluded", place.excluded},
                            {"unusable", StringOrNull(place.why_unusable)}});
  }
  return places;
}

Value NeighbourDocument(const inspect::Use* use, alloc::PoolId pool) {
  if (use == nullptr) return {};
  return Object{{"value", alloc::TextOf({.pool = pool, .value = use->value})},
                {"service", inspect::PathOf(*use->service)}};
}

Value AdviceDocument(const ValueAnswer& answer) {
  const inspect::Advice& advice = answer.advice;
  Array near;
  for (const base::U128 value : advice.safe_near) {
    near.push_back(alloc::TextOf({.pool = answer.value.pool, .value = value}));
  }
  const bool chance = advice.one_in.has_value();
  return Object{{"safe", advice.verdict == inspect::Verdict::kSafe},
                {"verdict", inspect::NameOf(advice.verdict)},
                {"pickedFrom", chance ? Value(base::SaturateToInt64(*advice.one_in)) : Value()},
                {"pickedFromText", chance ? Value(base::ToDecimal(*advice.one_in)) : Value()},
                {"closed", advice.closed},
                {"safeNear", std::move(near)}};
}

Value HistoryDocument(const ValueAnswer& answer) {
  if (!answer.history) return {};
  Array spans;
  for (const inspect::HeldSpan& span : answer.history->spans) {
    spans.push_back(Object{{"owner", span.owner},
                           {"from", TimeOrNull(span.from.latest)},
                           {"fromEarliest", TimeOrNull(span.from.earliest)},
                           {"to", span.to ? TimeOrNull(span.to->latest) : Value()},
                           {"toEarliest", span.to ? TimeOrNull(span.to->earliest) : Value()}});
  }
  return spans;
}

/// Returns how far the history reaches.
Value HistoryKnownDocument(const ValueAnswer& answer) {
  if (!answer.history) return {};
  return Object{{"begin", TimeOrNull(answer.history->begin)},
                {"end", TimeOrNull(answer.history->end)},
                {"gapCount", uint64_t{answer.history->gaps}}};
}

Value ValueDocument(const std::optional<ValueAnswer>& answer) {
  if (!answer) return {};
  Array owners;
  for (const inspect::Use& use : answer->owners) {
    Object owner = ServiceDocument(*use.service);
    SetHeld(owner, *use.held);
    owners.push_back(std::move(owner));
  }
  return Object{{"value", alloc::TextOf(answer->value)},
                {"kind", inspect::NameOf(answer->value.pool)},
                {"state", inspect::NameOf(answer->standing)},
                {"owners", std::move(owners)},
                {"since", TimeOrNull(answer->since)},
                {"record", RecordDocument(answer->record)},
                {"recordCheck", inspect::NameOf(answer->check)},
                {"ranges", PlacesDocument(*answer)},
                {"below", NeighbourDocument(answer->below, answer->value.pool)},
                {"above", NeighbourDocument(answer->above, answer->value.pool)},
                {"hardCode", AdviceDocument(*answer)},
                {"history", HistoryDocument(*answer)},
                {"historyKnown", HistoryKnownDocument(*answer)}};
}

Value HoldingDocument(const inspect::Census& census, const Held& held) {
  const ValueAnswer answer = inspect::LookUp(census, held.value);
  Object object{{"value", alloc::TextOf(held.value)}, {"kind", inspect::NameOf(held.value.pool)}};
  SetHeld(object, held);
  object.Set("ranges", PlacesDocument(answer));
  object.Set("recordCheck", inspect::NameOf(answer.check));
  object.Set("ownerCount", uint64_t{answer.owners.size()});
  return object;
}

Value ServicesDocument(const inspect::Census& census,
                       const std::vector<const inspect::Service*>& services) {
  Array out;
  for (const inspect::Service* service : services) {
    Object object = ServiceDocument(*service);
    Array holds;
    for (const Held& held : service->holds) holds.push_back(HoldingDocument(census, held));
    object.Set("holds", std::move(holds));
    out.push_back(std::move(object));
  }
  return out;
}

Value NamespaceDocument(const inspect::Census& census,
                        const std::optional<inspect::NamespaceAnswer>& answer) {
  if (!answer) return {};
  Object counts;
  for (const alloc::PoolId pool : alloc::kAllPools) {
    const auto& count = answer->counts[pool];
    counts.Set(std::string(inspect::NameOf(pool)),
               Object{{"values", count.values}, {"named", count.named}, {"drawn", count.drawn}});
  }
  return Object{{"name", answer->name},
                {"counts", std::move(counts)},
                {"reserved", answer->reserved},
                {"services", ServicesDocument(census, answer->services)}};
}

}  // namespace

Value WhoisDocument(const inspect::Census& census,
                    const std::vector<inspect::WhoisAnswer>& answers) {
  Array out;
  for (const inspect::WhoisAnswer& answer : answers) {
    Array ranges;
    for (const inspect::RangeRef& range : answer.ranges) ranges.push_back(RangeRefDocument(range));
    Array similar;
    for (const std::string& name : answer.similar) similar.push_back(name);
    out.push_back(Object{{"asked", answer.asked},
                         {"found", answer.Found()},
                         {"value", ValueDocument(answer.value)},
                         {"services", ServicesDocument(census, answer.services)},
                         {"namespace", NamespaceDocument(census, answer.name_space)},
                         {"ranges", std::move(ranges)},
                         {"similar", std::move(similar)}});
  }
  Object document = DocumentOf("Whois", census.cluster());
  document.Set("answers", std::move(out));
  document.Set("gaps", GapsDocument(census.cluster()));
  return document;
}

}  // namespace berth::cli
