// The checks of one asked value: rules out-of-range, unusable-value, taken, reserved,
// changed-address, dynamic-band, host-port and ephemeral-range.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/go_text.h"
#include "inspect/lint_checks.h"

namespace berth::inspect {
namespace {

using alloc::Band;
using alloc::PoolId;
using alloc::PoolValue;
using alloc::State;

/// Beyond this many free values a pick practically never takes a given one.
constexpr base::U128 kPracticallyNever = base::U128{1} << 30;
constexpr double kManyPicks = 100;

std::string_view WordOf(PoolId pool) { return pool == PoolId::kPorts ? "node ports" : "addresses"; }

/// Returns "node ports 30000-32767".
std::string TextOfRange(const RangeRef& range) {
  return fmt::format("{} {}", WordOf(range.pool), range.row->text);
}

std::string IntervalText(PoolId pool, const alloc::Interval& values) {
  return fmt::format("{}-{}", alloc::TextOf(PoolValue{.pool = pool, .value = values.first}),
                     alloc::TextOf(PoolValue{.pool = pool, .value = values.last}));
}

std::string KeyOf(const audit::ObjectRef& object) {
  return fmt::format("{}/{}", object.name_space, object.name);
}

/// Returns why a range that contains the value cannot give it out, or "".
std::string WhyUnusable(const LintContext& context, const PoolValue& value) {
  for (const RangeRef& range : context.ranges()) {
    if (range.pool != value.pool) continue;
    for (const alloc::Unusable& unusable : range.row->layout.unusable()) {
      if (!unusable.values.Contains(value.value)) continue;
      return fmt::format("is the {} of {}", unusable.why, range.row->text);
    }
    if (range.row->layout.Excludes(value.value)) {
      return fmt::format("is excluded from {}", range.row->text);
    }
  }
  return {};
}

/// Returns what another Service uses a port for: " (80/TCP)".
std::string UseText(const Held& held) {
  if (held.health_check) return " for its health check";
  std::string text;
  for (const audit::PortUse& use : held.ports) {
    text += fmt::format("{}{}/{}", text.empty() ? " for " : ", ", use.port,
                        use.protocol.empty() ? "TCP" : use.protocol);
  }
  return text;
}

std::string PercentOf(double chance) {
  const double percent = 100 * chance;
  if (percent < 0.1) return "less than 0.1 %";
  if (percent >= 99.95) return "100 %";
  return percent < 10 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

/// Returns the sentences about how likely it is that another Service gets the value.
std::string ChanceText(PoolId pool, const Chance& chance) {
  const std::string_view what = pool == PoolId::kPorts ? "node port that the API server picks"
                                                       : "address that the API server picks";
  if (chance.free == 0) return "The band is full, so no pick takes it before others are freed.";
  if (chance.free == 1) {
    return fmt::format("It is the last free value of its band, so the next {} is this one.", what);
  }
  if (chance.free > kPracticallyNever) {
    return "The band is so large that a pick hardly ever takes this value.";
  }
  const auto free = static_cast<uint64_t>(chance.free);
  return fmt::format(
      "Each new {} is this one with a chance of 1 in {}: {} after 100 of them, 50 % after {}.",
      what, free, PercentOf(chance.OfPicks(kManyPicks)), (free + 1) / 2);
}

/// Returns whether a record keeps the value for the Service, so that no other one gets it.
bool IsKeptFor(const LintContext& context, const LintService& service, const PoolValue& value) {
  const Record* record = context.census().RecordOf(value);
  if (record == nullptr || record->facts.state == audit::RecordState::kFree) return false;
  const audit::RecordFacts& facts = record->facts;
  return facts.reserved_for == service.key ||
         fmt::format("{}/{}", facts.service_namespace, facts.service_name) == service.key;
}

bool IsFull(const BandFigures& band) { return band.Usable() > 0 && band.counts[State::kFree] == 0; }

/// Reports a value of the static band of a range whose dynamic band is full.
void CheckSpill(LintContext& context, const LintService& service, const Asked& asked,
                const RangeRef& range) {
  const RangeFigures& figures = context.FiguresOf(range);
  if (range.row->layout.strict() || !IsFull(figures.dynamic_band)) return;
  LintFinding& finding = context.Add(LintRule::kDynamicBand, service, asked);
  finding.chance = Chance{.free = figures.static_band.counts[State::kFree]};
  finding.message =
      fmt::format("{} of Service {} is in the static band, but the dynamic band of {} is full",
                  NameOf(asked), service.key, TextOfRange(range));
  finding.why =
      "Picks now take values of the static band. " + ChanceText(asked.value.pool, *finding.chance);
  finding.advice = "Make room: add a range, or delete Services that are not needed.";
}

}  // namespace

bool IsAtRisk(const RangeRef& range, const PoolValue& value) {
  const alloc::Layout& layout = range.row->layout;
  return range.row->open && layout.GivesOut(value.value) &&
         layout.BandOf(value.value) == Band::kDynamic;
}

std::string DynamicBandText(std::string_view name, std::string_view service, const RangeRef& range,
                            const alloc::Interval& band) {
  return fmt::format("{} of Service {} is in the dynamic band {} of the {}", name, service,
                     IntervalText(range.pool, band), TextOfRange(range));
}

std::string HostPortText(std::string_view name, std::string_view service,
                         std::string_view program) {
  return fmt::format("{} of Service {} is the port of {} on the nodes", name, service,
                     base::ToVisible(program));
}

std::string EphemeralText(std::string_view name, std::string_view service,
                          const ip::PortRange& ephemeral) {
  return fmt::format("{} of Service {} is in the ephemeral range {} of the nodes", name, service,
                     ephemeral.ToString());
}

double Chance::OfPicks(double picks) const {
  if (free == 0) return 0;
  return std::min(1.0, picks / static_cast<double>(free));
}

bool CheckRange(LintContext& context, const LintService& service, const Asked& asked) {
  if (const std::string why = WhyUnusable(context, asked.value); !why.empty()) {
    LintFinding& finding = context.Add(LintRule::kUnusableValue, service, asked);
    finding.message = fmt::format("{} of Service {} {}", NameOf(asked), service.key, why);
    finding.why = "No Service can have it, and the API server refuses the Service.";
    context.Propose(finding, service, asked);
    return false;
  }
  if (!context.KnowsRanges(asked.value.pool)) return true;
  const std::vector<RangeRef> ranges = context.RangesOf(asked.value);
  if (std::ranges::any_of(ranges, [](const RangeRef& range) { return range.row->open; })) {
    return true;
  }
  std::string all;
  bool exact = true;
  for (const RangeRef& range : context.ranges()) {
    if (range.pool != asked.value.pool) continue;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", TextOfRange(range));
    exact = exact && range.range->exact;
  }
  const bool held = context.Holds(service, asked.value);
  if (all.empty() && asked.value.pool != PoolId::kPorts) return true;  // Rule ip-family says it.
  LintFinding& finding = context.Add(LintRule::kOutOfRange, service, asked);
  if (held || !exact) finding.severity = LintSeverity::kWarning;
  finding.message =
      ranges.empty()
          ? fmt::format("{} of Service {} is outside of the {}", NameOf(asked), service.key, all)
          : fmt::format("{} of Service {} belongs to {}, which gives nothing out any more",
                        NameOf(asked), service.key, TextOfRange(ranges.front()));
  finding.why = held ? "The Service has it now, but could not get it again."
                     : "The API server refuses the Service.";
  context.Propose(finding, service, asked);
  if (!exact) finding.advice += " If the cluster has another range, give --node-port-range.";
  return false;
}

bool CheckTaken(LintContext& context, const LintService& service, const Asked& asked) {
  for (const Use& use : context.census().UsesOf(asked.value)) {
    const std::string owner = KeyOf(use.service->object);
    if (use.service == service.present) continue;
    LintFinding& finding = context.Add(LintRule::kTaken, service, asked);
    finding.message =
        base::ToVisible(fmt::format("{} of Service {} is taken by Service {}{}", NameOf(asked),
                                    service.key, owner, UseText(*use.held)));
    finding.why = context.Holds(service, asked.value)
                      ? "Both Services have it in the cluster."
                      : "The API server refuses the Service while the other one has it.";
    context.Propose(finding, service, asked);
    return false;
  }
  const Record* record = context.census().RecordOf(asked.value);
  if (record == nullptr || context.Holds(service, asked.value)) return true;
  const audit::RecordFacts& facts = record->facts;
  if (facts.state == audit::RecordState::kFree) return true;
  const std::string owner = fmt::format("{}/{}", facts.service_namespace, facts.service_name);
  const bool own = facts.reserved_for == service.key || owner == service.key;
  // Berth hands the value over. A kube-apiserver refuses it as long as there is a record.
  const bool refused = own && context.census().cluster().server == ServerKind::kKubernetes;
  if (own && !refused) return true;
  const bool allocated = facts.state == audit::RecordState::kAllocated;
  LintFinding& finding =
      context.Add(allocated ? LintRule::kTaken : LintRule::kReserved, service, asked);
  std::string what = "is reserved, and for no Service";
  if (!record->parent.empty()) what += fmt::format(" (its parent is {})", record->parent);
  if (!facts.reserved_for.empty()) what = "is reserved for Service " + facts.reserved_for;
  if (allocated && !facts.service_name.empty()) what = "belongs to Service " + owner;
  if (allocated && facts.service_name.empty()) what = "belongs to another object";
  if (refused) what = "has a record that names the Service, which does not have it";
  finding.message =
      base::ToVisible(fmt::format("{} of Service {} {}", NameOf(asked), service.key, what));
  finding.why = fmt::format("The record {} says so, and the API server refuses the Service.",
                            base::ToVisible(audit::TextOf(facts.object)));
  context.Propose(finding, service, asked);
  if (refused) {
    finding.why =
        "The API server refuses the address, also for this Service, while the record exists.";
    finding.advice += fmt::format(" Or delete the record first: kubectl delete ipaddress {}.",
                                  base::ToVisible(facts.object.name));
  }
  return false;
}

bool CheckKept(LintContext& context, const LintService& service, const Asked& asked) {
  if (service.present == nullptr || asked.value.pool == PoolId::kPorts) return true;
  if (context.Holds(service, asked.value)) return true;
  for (const Held& held : service.present->holds) {
    if (held.value.pool != asked.value.pool) continue;
    LintFinding& finding = context.Add(LintRule::kChangedAddress, service, asked);
    finding.message = fmt::format("{} of Service {} differs from {}, which it has in the cluster",
                                  NameOf(asked), service.key, alloc::TextOf(held.value));
    finding.why = "A Service keeps its address for life, and the API server refuses the change.";
    finding.instead = alloc::TextOf(held.value);
    finding.advice = fmt::format(
        "Use {}, leave the field out, or delete the Service before you apply the manifest.",
        *finding.instead);
    return false;
  }
  return true;
}

void CheckBand(LintContext& context, const LintService& service, const Asked& asked) {
  const std::vector<RangeRef> ranges = context.RangesOf(asked.value);
  const auto risky = std::ranges::find_if(
      ranges, [&](const RangeRef& range) { return IsAtRisk(range, asked.value); });
  const bool held = context.Holds(service, asked.value);
  const bool kept = held || IsKeptFor(context, service, asked.value);
  if (risky == ranges.end()) {
    if (!kept && !ranges.empty()) CheckSpill(context, service, asked, ranges.front());
    return;
  }
  const RangeFigures& figures = context.FiguresOf(*risky);
  LintFinding& finding = context.Add(LintRule::kDynamicBand, service, asked);
  finding.chance = Chance{.free = figures.dynamic_band.counts[State::kFree]};
  finding.message = DynamicBandText(NameOf(asked), service.key, *risky, *figures.dynamic_band.span);
  if (kept) {
    finding.severity = LintSeverity::kNote;
    finding.chance.reset();
    finding.why = held
                      ? "The Service has it now. If it is deleted and created again, another "
                        "Service may get it first."
                      : "A record keeps it for the Service. Without the record another Service may "
                        "get it first.";
  } else {
    if (finding.chance->free > kPracticallyNever) finding.severity = LintSeverity::kNote;
    finding.why = "Another Service can get it before this one is applied. " +
                  ChanceText(asked.value.pool, *finding.chance);
  }
  context.Propose(finding, service, asked);
}

void CheckNodes(LintContext& context, const LintService& service, const Asked& asked) {
  if (asked.value.pool != PoolId::kPorts) return;
  const auto port = static_cast<uint16_t>(asked.value.value);
  const auto host = context.options().host_ports.find(port);
  if (host != context.options().host_ports.end()) {
    LintFinding& finding = context.Add(LintRule::kHostPort, service, asked);
    finding.message = HostPortText(NameOf(asked), service.key, host->second);
    finding.why =
        "The node port is opened on every node, and traffic for the program goes to the "
        "Service instead.";
    context.Propose(finding, service, asked);
  }
  const ip::PortRange& ephemeral = context.options().ephemeral;
  if (!ephemeral.Contains(port)) return;
  LintFinding& finding = context.Add(LintRule::kEphemeralRange, service, asked);
  finding.message = EphemeralText(NameOf(asked), service.key, ephemeral);
  finding.why =
      "The nodes use such ports for outgoing connections, and the two disturb each other.";
  context.Propose(finding, service, asked);
}

}  // namespace berth::inspect
