#include "model/services_ranges.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "codec/read.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::model {
namespace {

using codec::Value;

size_t BandSize(size_t total, size_t part) {
  if (total <= 16) return 0;
  return std::clamp<size_t>(total / part, 16, part == 16 ? 256 : 128);
}

/// Returns the addresses of a range. The first one is not usable, and neither is the last one of
/// IPv4.
std::vector<std::string> AddressesOf(const ip::Cidr& cidr) {
  std::vector<std::string> values;
  const bool v4 = cidr.family() == ip::Family::kV4;
  for (base::U128 at = cidr.First().bits() + 1; at <= cidr.Last().bits(); ++at) {
    if (v4 && at == cidr.Last().bits()) break;
    values.push_back(ip::Addr(cidr.family(), at).ToString());
  }
  return values;
}

}  // namespace

std::string FamilyOf(const std::string& address) {
  return address.find(':') == std::string::npos ? "IPv4" : "IPv6";
}

PoolOf PoolOfFamily(const std::string& family) {
  return family == "IPv6" ? PoolOf::kIpv6 : PoolOf::kIpv4;
}

PoolOf PoolOfValue(const std::string& value) {
  if (value.find(':') != std::string::npos) return PoolOf::kIpv6;
  return value.find('.') != std::string::npos ? PoolOf::kIpv4 : PoolOf::kPorts;
}

std::string_view WellKnownName(PoolOf pool) {
  switch (pool) {
    case PoolOf::kIpv4:
      return "allocator.ipv4.k8s.io";
    case PoolOf::kIpv6:
      return "allocator.ipv6.k8s.io";
    case PoolOf::kPorts:
      break;
  }
  return "allocator.nodeport.k8s.io";
}

std::string ToText(const RangeSpec& spec) {
  std::string text = spec.text;
  if (spec.primary) text += " primary";
  if (spec.disabled) text += " disabled";
  if (spec.strict) text += " strict";
  if (spec.priority) text += fmt::format(" priority:{}", *spec.priority);
  if (spec.band) text += fmt::format(" band:{}", *spec.band);
  if (!spec.excluded.empty()) text += fmt::format(" without {}", spec.excluded);
  if (spec.cool_down != 0) text += fmt::format(" cools {}s", spec.cool_down);
  return text;
}

RangeSpec RangeFromValue(const Value& object, bool ports) {
  RangeSpec spec{.name = std::string(codec::StringAt(object, "metadata", "name")),
                 .text = std::string(codec::StringAt(object, "spec", "range")),
                 .primary = codec::BoolAt(object, "spec", "primary"),
                 .disabled = codec::BoolAt(object, "spec", "disabled"),
                 .strict = codec::BoolAt(object, "spec", "strict"),
                 .cool_down = codec::IntAt(object, "spec", "coolDownSeconds")};
  spec.pool = ports ? PoolOf::kPorts : PoolOfValue(spec.text);
  if (const Value* priority = codec::FindAt(object, "spec", "priority")) {
    spec.priority = priority->AsInt();
  }
  if (const Value* band = codec::FindAt(object, "spec", "staticBand")) spec.band = band->AsInt();
  for (const std::string& text : codec::Texts(codec::ArrayAt(object, "spec", "excluded"))) {
    spec.excluded.insert(text);
  }
  return spec;
}

Value SpecValue(const RangeSpec& spec) {
  codec::Object object{{"range", spec.text}};
  if (spec.primary) object.Set("primary", true);
  if (spec.disabled) object.Set("disabled", true);
  if (spec.strict) object.Set("strict", true);
  if (spec.priority) object.Set("priority", *spec.priority);
  if (spec.band) object.Set("staticBand", *spec.band);
  if (!spec.excluded.empty()) {
    object.Set("excluded", codec::Array(spec.excluded.begin(), spec.excluded.end()));
  }
  if (spec.cool_down != 0) object.Set("coolDownSeconds", spec.cool_down);
  return object;
}

Range::Range(RangeSpec spec) : spec_(std::move(spec)) {
  size_t total = 0;
  if (spec_.pool == PoolOf::kPorts) {
    const auto ports = ip::ParsePortRange(spec_.text).value();
    for (int port = ports.first(); port <= ports.last(); ++port) {
      values_.push_back(std::to_string(port));
    }
    total = values_.size();
  } else {
    const auto cidr = ip::ParseCidr(spec_.text).value();
    values_ = AddressesOf(cidr);
    total = static_cast<size_t>(cidr.Last().bits() - cidr.First().bits() + 1);
  }
  band_ = BandSize(total, spec_.pool == PoolOf::kPorts ? 32 : 16);
  if (spec_.band) band_ = static_cast<size_t>(*spec_.band);
  for (size_t i = 0; i < values_.size(); ++i) places_.emplace(values_[i], i);
}

int64_t Range::Priority() const {
  if (spec_.priority) return *spec_.priority;
  return spec_.IsWellKnown() ? std::numeric_limits<int64_t>::max() : 0;
}

Cluster::Cluster(const Specs& specs, const Cluster& before) {
  for (const auto& [key, spec] : specs) {
    const auto same = before.ranges_.find(key);
    const bool is_same = same != before.ranges_.end() && same->second->spec() == spec;
    const RangePtr range = is_same ? same->second : std::make_shared<const Range>(spec);
    ranges_.emplace(key, range);
    pools_[spec.pool].push_back(range);
  }
}

std::string Cluster::KeyOf(const RangeSpec& spec) {
  return (spec.pool == PoolOf::kPorts ? "ports/" : "addresses/") + spec.name;
}

Cluster::Specs Cluster::ToSpecs() const {
  Specs specs;
  for (const auto& [key, range] : ranges_) specs.emplace(key, range->spec());
  return specs;
}

const RangeSpec* Cluster::Find(const std::string& key) const {
  const auto found = ranges_.find(key);
  return found == ranges_.end() ? nullptr : &found->second->spec();
}

std::vector<std::string> Cluster::Families() const {
  std::vector<std::string> families;
  for (const PoolOf pool : {PoolOf::kIpv4, PoolOf::kIpv6}) {
    const std::string family = pool == PoolOf::kIpv6 ? "IPv6" : "IPv4";
    const auto is_primary = [](const RangePtr& range) { return range->spec().primary; };
    if (std::ranges::none_of(At(pool), &Range::IsOpen)) continue;
    families.insert(std::ranges::any_of(At(pool), is_primary) ? families.begin() : families.end(),
                    family);
  }
  return families;
}

bool Cluster::Covers(const std::string& value) const {
  return std::ranges::any_of(At(PoolOfValue(value)),
                             [&](const RangePtr& range) { return range->Has(value); });
}

bool Cluster::Gives(const std::string& value) const {
  return std::ranges::any_of(At(PoolOfValue(value)),
                             [&](const RangePtr& range) { return range->Gives(value); });
}

bool Cluster::IsPickable(const std::string& value, bool has_band) const {
  return std::ranges::any_of(At(PoolOfValue(value)), [&](const RangePtr& range) {
    return range->IsPickable(value, has_band);
  });
}

/// If several ranges are equally small, any of them may decide.
std::set<int64_t> Cluster::CoolDowns(const std::string& value) const {
  std::set<int64_t> seconds;
  size_t smallest = std::numeric_limits<size_t>::max();
  for (const RangePtr& range : At(PoolOfValue(value))) {
    if (!range->Has(value) || range->values().size() > smallest) continue;
    if (range->values().size() < smallest) seconds.clear();
    smallest = range->values().size();
    seconds.insert(range->spec().cool_down);
  }
  return seconds;
}

std::set<std::string> Cluster::Values(PoolOf pool) const {
  std::set<std::string> values;
  for (const RangePtr& range : At(pool)) {
    values.insert(range->values().begin(), range->values().end());
  }
  return values;
}

}  // namespace berth::model
