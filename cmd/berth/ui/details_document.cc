// Everything about one value or one Service: what `berth whois` says, and what can be done with it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_text.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/value_text.h"
#include "berth/inspect/whois_text.h"
#include "berth/ui/scene.h"
#include "berth/ui/scene_parts.h"
#include "inspect/blockers.h"
#include "inspect/names.h"
#include "inspect/question.h"
#include "inspect/range_shape.h"

namespace berth::cli {
namespace {

using codec::Object;
using codec::Value;
using inspect::Held;
using inspect::Service;
using inspect::Standing;
using inspect::ValueAnswer;

constexpr size_t kMostOwners = 20;
constexpr Style kPageStyle{.color = false, .utf8 = true};

std::string_view ToneOf(Color color) {
  switch (color) {
    case Color::kGreen:
      return "good";
    case Color::kYellow:
      return "warn";
    case Color::kRed:
      return "bad";
    case Color::kDim:
      return "quiet";
    default:
      return "plain";
  }
}

Value FactDocument(std::string_view label, std::string_view text, std::string_view tone) {
  return Object{{"label", label}, {"text", text}, {"tone", tone}};
}

codec::Array FactsDocument(const FactList& facts) {
  codec::Array array;
  std::string_view label;
  for (const FactList::Fact& fact : facts.facts()) {
    // A fact without a label goes on with the one before.
    if (!fact.label.empty()) label = fact.label;
    array.push_back(FactDocument(label, fact.text, ToneOf(fact.color)));
  }
  return array;
}

Value HoldDocument(const Scene& scene, const Held& held) {
  const auto ranges = scene.census().RangesOf(held.value);
  return Object{{"value", alloc::TextOf(held.value)},
                {"pool", inspect::NameOf(held.value.pool)},
                {"origin", inspect::NameOf(held.origin)},
                {"serves", ServesText(held)},
                {"range", ranges.empty() ? Value() : Value(inspect::TitleOf(ranges.front()))},
                {"key", ranges.empty() ? Value() : Value(inspect::KeyOf(ranges.front()))}};
}

Value ServiceDetails(const Scene& scene, const Service& service) {
  Object labels;
  inspect::ForEachLabel(service.labels, [&](std::string_view key, std::string_view value) {
    labels.Set(std::string(key), value);
  });
  codec::Array holds;
  for (const Held& held : service.holds) holds.push_back(HoldDocument(scene, held));
  return Object{{"service", inspect::PathOf(service)},
                {"namespace", service.object.name_space},
                {"name", service.object.name},
                {"type", service.type.empty() ? "ClusterIP" : service.type},
                {"created", TimeOrNull(service.created)},
                {"labels", std::move(labels)},
                {"managedBy", StringOrNull(ManagedText(service))},
                {"holds", std::move(holds)}};
}

Value NeighbourOf(const inspect::Use* use, alloc::PoolId pool) {
  if (use == nullptr) return {};
  return Object{{"value", ValueTextOf(pool, use->value)},
                {"service", inspect::PathOf(*use->service)}};
}

Value ValueDetails(const Scene& scene, const ValueAnswer& answer) {
  const alloc::PoolId pool = answer.value.pool;
  codec::Array ranges;
  for (const inspect::Place& place : answer.places) {
    ranges.push_back(Object{{"key", inspect::KeyOf(place.range)},
                            {"label", inspect::TitleOf(place.range)},
                            {"band", place.band ? Value(inspect::NameOf(*place.band)) : Value()}});
  }
  codec::Array near;
  for (const base::U128 value : answer.advice.safe_near) near.push_back(ValueTextOf(pool, value));
  return Object{{"value", alloc::TextOf(answer.value)},
                {"pool", inspect::NameOf(pool)},
                {"state", inspect::NameOf(answer.standing)},
                {"safe", answer.advice.verdict == inspect::Verdict::kSafe},
                {"verdict", VerdictText(scene.census(), answer)},
                {"ranges", std::move(ranges)},
                {"safeNear", std::move(near)},
                {"below", NeighbourOf(answer.below, pool)},
                {"above", NeighbourOf(answer.above, pool)}};
}

Value PastDocument(const std::optional<inspect::ValuePast>& past) {
  if (!past) return {};
  codec::Array spans;
  for (const inspect::HeldSpan& span : past->spans) {
    spans.push_back(Object{{"owner", span.owner},
                           {"fromEarliest", TimeOrNull(span.from.earliest)},
                           {"from", TimeOrNull(span.from.latest)},
                           {"toEarliest", span.to ? TimeOrNull(span.to->earliest) : Value()},
                           {"to", span.to ? TimeOrNull(span.to->latest) : Value()}});
  }
  return Object{{"begin", TimeOrNull(past->begin)},
                {"end", TimeOrNull(past->end)},
                {"gaps", uint64_t{past->gaps}},
                {"spans", std::move(spans)}};
}

std::vector<inspect::ReadyCommand> CommandsOfValue(const Scene& scene, const ValueAnswer& answer) {
  std::vector<inspect::ReadyCommand> commands = inspect::CommandsFor(answer.value);
  if (answer.owners.size() == 1) commands = inspect::CommandsFor(*answer.owners.front().service);
  const bool free = answer.standing == Standing::kFree || answer.standing == Standing::kCooling;
  if (answer.places.empty()) return commands;
  const inspect::RangeRef& range = answer.places.front().range;
  // A value that cools down has a record already.
  const bool can_be_reserved = free && answer.record == nullptr && !range.range->given &&
                               inspect::IsOfBerth(scene.cluster(), range);
  if (can_be_reserved) commands.push_back(inspect::ReserveCommand(answer.value));
  commands.push_back(inspect::BlockersCommand(range));
  return commands;
}

const Service* FindService(const inspect::Cluster& cluster, std::string_view path) {
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return nullptr;
  const std::pair wanted(path.substr(0, slash), path.substr(slash + 1));
  const auto key = [](const Service& service) {
    return std::pair<std::string_view, std::string_view>(service.object.name_space,
                                                         service.object.name);
  };
  const auto found = std::ranges::lower_bound(cluster.services, wanted, {}, key);
  return found != cluster.services.end() && key(*found) == wanted ? &*found : nullptr;
}

Value AboutValue(const Scene& scene, const alloc::PoolValue& value) {
  ValueAnswer answer = inspect::AskValue(scene.census(), value, scene.options().past);
  codec::Array services;
  for (const inspect::Use& use : answer.owners) {
    if (services.size() == kMostOwners) break;
    services.push_back(ServiceDetails(scene, *use.service));
  }
  Value history = PastDocument(answer.history);
  answer.history.reset();  // The page draws it.
  return Object{{"seq", scene.seq()},
                {"title", alloc::TextOf(value)},
                {"facts", FactsDocument(ValueFacts(scene.census(), answer, Paint(kPageStyle)))},
                {"value", ValueDetails(scene, answer)},
                {"services", std::move(services)},
                {"commands", CommandsDocument(CommandsOfValue(scene, answer))},
                {"history", std::move(history)}};
}

Value AboutService(const Scene& scene, const Service& service) {
  codec::Array facts = FactsDocument(ServiceFacts(scene.census(), service, Paint(kPageStyle)));
  if (service.deleting) {
    facts.insert(facts.begin(), FactDocument("State", "being deleted", "warn"));
  }
  for (const Held& held : service.holds) {
    const std::string trouble = TroubleWith(scene.census(), service, held);
    if (trouble.empty()) continue;
    facts.push_back(FactDocument(
        "Trouble", fmt::format("{} is {}", alloc::TextOf(held.value), trouble), "bad"));
  }
  return Object{{"seq", scene.seq()},
                {"title", inspect::PathOf(service)},
                {"facts", std::move(facts)},
                {"value", Value()},
                {"services", codec::Array{ServiceDetails(scene, service)}},
                {"commands", CommandsDocument(inspect::CommandsFor(service))},
                {"history", Value()}};
}

}  // namespace

base::Result<Value> DetailsDocument(const Scene& scene, std::string_view value,
                                    std::string_view service) {
  if (!service.empty()) {
    const Service* found = FindService(scene.cluster(), service);
    if (found != nullptr) return AboutService(scene, *found);
    return base::Fail(base::Reason::kNotFound,
                      fmt::format("there is no Service {}", base::GoQuoted(service)));
  }
  const auto read = inspect::ReadValue(value);
  if (read) return AboutValue(scene, *read);
  return base::Fail(base::Reason::kInvalid,
                    fmt::format("{} is neither an address nor a port", base::GoQuoted(value)));
}

}  // namespace berth::cli
