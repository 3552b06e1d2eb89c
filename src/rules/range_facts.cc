#include "rules/range_facts.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "rules/range_spec.h"

namespace berth::rules {
namespace {

using alloc::PoolId;
using alloc::RangeFacts;
using alloc::RangeKind;
using codec::Value;

/// Returns whether the object is being deleted.
bool IsLeaving(const Value& range) { return codec::HasAt(range, "metadata", "deletionTimestamp"); }

std::vector<alloc::Interval> ExcludedOf(const Value& range, PoolId pool) {
  std::vector<alloc::Interval> excluded;
  for (const Value& entry : codec::ArrayAt(range, "spec", "excluded")) {
    const std::string_view text = codec::Text(&entry);
    if (pool == PoolId::kPorts) {
      if (const auto ports = ReadPorts(text)) {
        excluded.push_back({ports->first(), ports->last()});
      }
    } else {
      const ip::Family family = pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6;
      if (const auto values = ReadExcludedAddresses(text, family)) {
        excluded.push_back({values->first, values->last});
      }
    }
  }
  return excluded;
}

alloc::RangeOptions OptionsOf(const Value& range, PoolId pool) {
  alloc::RangeOptions options{.strict = codec::BoolAt(range, "spec", "strict"),
                              .excluded = ExcludedOf(range, pool)};
  if (const Value* band = codec::FindAt(range, "spec", "staticBand")) {
    // A negative value was never valid.
    options.static_band = band->AsUint().value_or(0);
  }
  return options;
}

/// The ranges that a cluster begins with come before all others.
int64_t PriorityOf(const Value& range) {
  if (const Value* priority = codec::FindAt(range, "spec", "priority")) {
    return priority->AsInt().value_or(0);
  }
  return IsWellKnownRange(codec::StringAt(range, "metadata", "name"))
             ? std::numeric_limits<int64_t>::max()
             : 0;
}

/// Returns false for a ServiceCIDR that says that it is not ready: nothing is taken from it.
bool IsOpenCidr(const Value& cidr) {
  if (IsLeaving(cidr)) return false;
  for (const Value& condition : codec::ArrayAt(cidr, "status", "conditions")) {
    if (codec::StringAt(condition, "type") == "Ready") {
      return codec::StringAt(condition, "status") == "True";
    }
  }
  return true;
}

/// Returns the layout, without the static band if that does not fit. Validation refuses such a
/// band, but if one is stored, the range still has its values.
template <typename Values>
alloc::Layout FittingLayout(const Values& values, alloc::RangeOptions options) {
  auto layout = alloc::LayoutOf(values, options);
  if (layout) return *std::move(layout);
  options.static_band = std::nullopt;
  return alloc::LayoutOf(values, options).value();
}

void AddPart(RangeFacts& facts, PoolId pool, const Value& object, std::string_view text,
             alloc::Layout layout) {
  facts.parts.push_back({.pool = pool,
                         .row = {.name = std::string(codec::StringAt(object, "metadata", "name")),
                                 .text = std::string(text),
                                 .layout = std::move(layout)}});
}

void AddCidrs(RangeFacts& facts, const Value& cidr, const BandGates& gates) {
  const alloc::RangeOptions options =
      gates.addresses ? alloc::RangeOptions() : alloc::RangeOptions{.static_band = 0};
  const bool open = IsOpenCidr(cidr);
  for (const Value& entry : codec::ArrayAt(cidr, "spec", "cidrs")) {
    const std::string_view text = codec::Text(&entry);
    if (const auto parsed = ip::ParseCidr(text)) {
      AddPart(facts, alloc::PoolOf(parsed->family()), cidr, text, FittingLayout(*parsed, options));
    }
  }
  for (RangeFacts::Part& part : facts.parts) {
    part.row.open = open;
    part.row.leaving = IsLeaving(cidr);
  }
}

void AddRange(RangeFacts& facts, const Value& range, const BandGates& gates) {
  const std::string_view text = codec::StringAt(range, "spec", "range");
  if (facts.kind == RangeKind::kNodePortRange) {
    const auto ports = ReadPorts(text);
    if (!ports) return;
    alloc::RangeOptions options = OptionsOf(range, PoolId::kPorts);
    if (!gates.ports) options.static_band = 0;
    AddPart(facts, PoolId::kPorts, range, text, FittingLayout(*ports, options));
  } else {
    const auto cidr = ip::ParseCidr(text);
    if (!cidr) return;
    const PoolId pool = alloc::PoolOf(cidr->family());
    alloc::RangeOptions options = OptionsOf(range, pool);
    if (!gates.addresses) options.static_band = 0;
    AddPart(facts, pool, range, text, FittingLayout(*cidr, options));
  }
  for (RangeFacts::Part& part : facts.parts) {
    part.row.priority = PriorityOf(range);
    part.row.leaving = IsLeaving(range);
    part.row.open = !codec::BoolAt(range, "spec", "disabled") && !part.row.leaving;
    part.row.cool_down = std::chrono::seconds(codec::IntAt(range, "spec", "coolDownSeconds"));
  }
}

}  // namespace

RangeFacts RangeFactsOf(RangeKind kind, const Value& object, const BandGates& gates) {
  RangeFacts facts{.kind = kind};
  if (kind == RangeKind::kServiceCidr) {
    AddCidrs(facts, object, gates);
    return facts;
  }
  facts.primary = kind == RangeKind::kIpRange && codec::BoolAt(object, "spec", "primary");
  AddRange(facts, object, gates);
  return facts;
}

}  // namespace berth::rules
