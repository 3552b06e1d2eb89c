#include <fmt/format.h>

#include <algorithm>

#include "inspect/lint_checks.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;
using alloc::PoolValue;

std::vector<RangeRef> KnownRanges(const Census& census) {
  std::vector<RangeRef> ranges;
  for (const RangeRef& range : census.ranges()) {
    if (range.pool == PoolId::kPorts || range.range->exact) ranges.push_back(range);
  }
  return ranges;
}

std::string BandText(PoolId pool, const alloc::Interval& band) {
  return fmt::format("{}-{}", alloc::TextOf(PoolValue{.pool = pool, .value = band.first}),
                     alloc::TextOf(PoolValue{.pool = pool, .value = band.last}));
}

}  // namespace

LintContext::LintContext(const Census& census, const LintOptions& options)
    : census_(census),
      options_(options),
      ranges_(KnownRanges(census)),
      safe_(census, RangesToProposeFrom(), options.host_ports, options.ephemeral) {}

/// A range whose dynamic band is full takes from the static one, so that no value of it is safe.
std::vector<RangeRef> LintContext::RangesToProposeFrom() {
  std::vector<RangeRef> ranges = ranges_;
  std::erase_if(ranges, [this](const RangeRef& range) {
    const RangeFigures& figures = FiguresOf(range);
    return !range.row->layout.strict() && figures.dynamic_band.counts[alloc::State::kFree] == 0 &&
           figures.dynamic_band.Usable() > 0;
  });
  return ranges;
}

std::vector<RangeRef> LintContext::RangesOf(const PoolValue& value) const {
  std::vector<RangeRef> ranges = census_.RangesOf(value);
  std::erase_if(ranges, [](const RangeRef& range) {
    return range.pool != PoolId::kPorts && !range.range->exact;
  });
  return ranges;
}

const RangeFigures& LintContext::FiguresOf(const RangeRef& range) {
  const auto found = figures_.find(range.row);
  if (found != figures_.end()) return found->second;
  return figures_.emplace(range.row, census_.FiguresOf(range)).first->second;
}

bool LintContext::Holds(const LintService& service, const PoolValue& value) const {
  return service.present != nullptr &&
         std::ranges::any_of(service.present->holds,
                             [&](const Held& held) { return held.value == value; });
}

LintFinding& LintContext::Add(LintRule rule, const LintService& service, std::string_view field) {
  fields_.emplace(service.source, field);
  LintFinding& finding = findings_.emplace_back();
  finding.rule = rule;
  finding.severity = InfoOf(rule).severity;
  finding.file = service.manifest->file;
  finding.mark = service.source->MarkOf(field);
  finding.service = service.key;
  finding.field = field;
  return finding;
}

LintFinding& LintContext::Add(LintRule rule, const LintService& service, const Asked& asked) {
  LintFinding& finding = Add(rule, service, asked.field);
  finding.value = alloc::TextOf(asked.value);
  return finding;
}

bool LintContext::HasFinding(const LintService& service, std::string_view field) const {
  return fields_.contains(std::pair(service.source, std::string(field)));
}

void LintContext::Propose(LintFinding& finding, const LintService& service, const Asked& asked) {
  const PoolId pool = asked.value.pool;
  const auto safe = safe_.Propose(asked.value, service.key, !KnowsRanges(pool));
  if (!safe) {
    finding.advice = KnowsRanges(pool) ? "No value of a static band is left. Leave the field out."
                                       : "Use a value of the static band, or leave the field out.";
    return;
  }
  finding.instead = alloc::TextOf(safe->value);
  finding.advice = fmt::format(
      "Use {}, which is in the static band {} and {}; or leave the field out.", *finding.instead,
      BandText(pool, safe->band), options_.has_cluster ? "free" : "not used in these files");
}

std::string NameOf(const Asked& asked) {
  const std::string_view name = asked.health_check                   ? "healthCheckNodePort"
                                : asked.value.pool == PoolId::kPorts ? "nodePort"
                                                                     : "clusterIP";
  return fmt::format("{} {}", name, alloc::TextOf(asked.value));
}

}  // namespace berth::inspect
