#include "allocation/warning_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "api/kinds.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "rules/names.h"

namespace berth::allocation {
namespace {

using codec::Value;

constexpr size_t kMaxNote = 1024;
constexpr std::string_view kDefaultNamespace = "default";

/// Adds a text and its end to a hash (FNV-1a), so that two texts never hash like their
/// concatenation.
void AddTo(uint64_t& hash, std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001b3;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  hash = (hash ^ 0xff) * kPrime;
}

std::string NamespaceOf(const WarningEvent& event) {
  return event.name_space.empty() ? std::string(kDefaultNamespace) : event.name_space;
}

Value NewEvent(const WarningEvent& event, base::WallTime now) {
  codec::Object about{{"kind", event.kind}};
  if (!event.name_space.empty()) about.Set("namespace", event.name_space);
  about.Set("name", event.name);
  about.Set("uid", event.uid);
  about.Set("apiVersion", event.api_version);
  return codec::Object{
      {"metadata", codec::Object{{"name", NameOf(event)}, {"namespace", NamespaceOf(event)}}},
      {"involvedObject", std::move(about)},
      {"reason", event.reason},
      {"message", event.note.substr(0, kMaxNote)},
      {"type", "Warning"},
      {"eventTime", codec::FormatMicroTime(now)},
      {"action", event.action},
      {"reportingComponent", event.reporter},
      {"reportingInstance", event.reporter}};
}

std::optional<base::WallTime> LastTime(const Value& event) {
  const std::string_view again = codec::StringAt(event, "series", "lastObservedTime");
  const auto last = codec::ParseTime(again.empty() ? codec::StringAt(event, "eventTime") : again);
  return last ? std::optional(*last) : std::nullopt;
}

/// Counts the event once more, unless it was counted a short time ago.
void CountAgain(Value& event, base::WallTime now) {
  const auto last = LastTime(event);
  if (last && now < *last + WarningEvents::kAgain) return;
  const int64_t count = std::max<int64_t>(1, codec::IntAt(event, "series", "count"));
  codec::SetAt(
      event, {"series"},
      codec::Object{{"count", count + 1}, {"lastObservedTime", codec::FormatMicroTime(now)}});
}

}  // namespace

std::string NameOf(const WarningEvent& event) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::string_view part :
       {std::string_view(event.kind), std::string_view(event.name), std::string_view(event.uid),
        std::string_view(event.reason), std::string_view(event.note), event.reporter}) {
    AddTo(hash, part);
  }
  // The name of an IPv6 address cannot be part of the name of an event.
  const bool plain = event.name.find(':') == std::string::npos;
  return fmt::format("{}.{:016x}", plain ? event.name : "address", hash);
}

WarningEvents::WarningEvents(registry::Registry& registry, const base::Clock& clock,
                             base::Logger& log)
    : registry_(registry),
      row_(*registry.GetKinds().FindRow(api::kEventKind)),
      clock_(clock),
      log_(log) {}

void WarningEvents::Raise(const WarningEvent& event) {
  const base::WallTime now = clock_.Now();
  registry::NextState next = [event, now](const Value* current) -> base::Result<registry::Next> {
    registry::Next out{.object = current == nullptr ? NewEvent(event, now) : *current};
    if (current != nullptr) CountAgain(out.object, now);
    return out;
  };
  registry_.Update({.served = {.row = &row_, .view = row_.views.data()},
                    .name_space = NamespaceOf(event),
                    .name = NameOf(event)},
                   {.way = registry::Way::kReplace}, std::move(next),
                   {.manager = registry::kOwnManager},
                   [&log = log_](const base::Result<registry::Outcome>& raised) {
                     if (raised || raised.error().reason == base::Reason::kNotFound) return;
                     log.Warn("cannot write an event", {{"why", raised.error().message}});
                   });
}

}  // namespace berth::allocation
